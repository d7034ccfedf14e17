"""``torchsleuth run --fit-batch``: the largest batch with which a script still has memory enough, found by trial."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.cli.output import complain
from torchsleuth.cli.run import Options, can_run
from torchsleuth.messages import message
from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.session import Run, RunReport

STEPS = 2
"""Of the optimizer in each trial: its state is there from the second one on."""
FIRST = 8
LARGEST = 1 << 20
CLOSENESS = 16
"""The answer lies within a sixteenth of the first batch that does not fit."""
_OUT_OF_MEMORY = "TS914"


@dataclass(frozen=True)
class Trial:
    """One run with batches of some size. `fits`: None where it ended for another reason than memory."""

    batch: int
    fits: bool | None
    samples: int | None
    """Of the training set; None where no loader of a known size trained."""
    error: str


def fit_batch(script: str, arguments: list[str], options: Options) -> int:
    """0: the answer was found, 1: not even the smallest batch fits, 2: the script could not be tried."""
    if not options.module and not can_run(Path(script)):
        return 2
    good, bad = 0, 0
    batch = FIRST
    while True:
        trial = _tried(script, arguments, options, batch)
        if trial.fits is None or trial.samples is None:
            error = trial.error or message("cli.fit.no_loader")
            complain(message("cli.fit.impossible", batch=batch, error=error))
            return 2
        complain(message("cli.fit.fits" if trial.fits else "cli.fit.too_large", batch=batch))
        if trial.fits:
            good = batch
        else:
            bad = batch
        if good >= min(trial.samples, LARGEST):
            complain(message("cli.fit.all", batch=good, samples=trial.samples))
            return 0
        if bad == 1:
            complain(message("cli.fit.none"))
            return 1
        if good and bad - good <= max(1, bad // CLOSENESS) and bad:
            complain(message("cli.fit.answer", batch=good, bad=bad))
            return 0
        batch = (good + bad) // 2 if bad else min(2 * good, trial.samples)


def _tried(script: str, arguments: list[str], options: Options, batch: int) -> Trial:
    job = Run(script, tuple(arguments), options.python or sys.executable, module=options.module, flags=options.flags)
    device = options.limits[2] if options.limits is not None else None
    job.timeout, job.on_output = options.timeout, lambda text: None
    job.limits = Limits(max_steps=STEPS, device=device, batch=batch)
    try:
        report = job.execute()
    except OSError as error:
        return Trial(batch, None, None, error.strerror or str(error))
    codes = {diagnostic.code for diagnostic in report.diagnostics if diagnostic.severity == "error"}
    if _OUT_OF_MEMORY in codes or report.exit_code == -signal.SIGKILL and not report.cancelled:
        return Trial(batch, False, _samples(report) or LARGEST, "")
    if report.exit_code != 0 or report.cancelled:
        return Trial(batch, None, None, _first_error(report))
    return Trial(batch, True, _samples(report), "")


def _samples(report: RunReport) -> int | None:
    """The number of samples of the loader that training reads, as far as it was seen."""
    loaders = report.recorded.loaders if report.recorded is not None else ()
    sizes = [loader.size for loader in loaders if loader.size is not None and (loader.batch_size or 0) > 1]
    return max(sizes, default=None)


def _first_error(report: RunReport) -> str:
    found = next((item for item in report.diagnostics if item.severity == "error"), None)
    if found is not None:
        return f"{found.code} {found.message}"
    return message("cli.fit.ended", status=report.exit_code)

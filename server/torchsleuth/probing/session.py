"""Runs a script with a probe, and judges what the probe has measured.

result = Request("overfit", "train.py", interpreter=sys.executable).answer()
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from torchsleuth.messages import message
from torchsleuth.numbers import number
from torchsleuth.probing.judge import JUDGES
from torchsleuth.probing.result import Place, Result
from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.session import Run, RunReport
from torchsleuth.schema import Diagnostic, Json, Position
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.syntax.text import SourceText

STEPS: dict[str, int | None] = {
    "nonfinite": None,
    "overfit": 200,
    "lr": 100,
    "gradcheck": 2,
    "independence": 1,
    "determinism": 20,
    "workers": 6,
}
"""Optimizer steps of each kind where the user says nothing."""
KINDS = tuple(STEPS)
SEED = 0
NOT_RECORDED = ("shapes", "values", "training")


@dataclass
class Request:
    """A request for a probe. `steps` None: those that the kind takes. `timeout` in seconds. `start` is called with each run before it is
    executed, so that it can be cancelled; it may set what becomes of its output. `explain` may add to the report of a crash what
    else is known; `report` is that of the last run."""

    kind: str
    script: str
    arguments: tuple[str, ...] = ()
    interpreter: str = "python3"
    module: bool = False
    steps: int | None = None
    timeout: float | None = None
    cwd: str | None = None
    start: Callable[[Run], None] = field(default=lambda job: None)
    explain: Callable[[RunReport], RunReport] = field(default=lambda report: report)
    report: RunReport | None = None

    def answer(self) -> Result:
        """Run the script, as often as the probe needs it. Raises OSError if the interpreter cannot be started."""
        if self.kind == "determinism":
            return self._compared()
        measured, report = self._run({})
        if measured is None:
            return self._impossible(report)
        if self.kind == "lr" and measured.get("short") and self.steps is None and not report.cancelled:
            again, report = self._run({"steps": measured["steps"]})
            measured = again or measured
        result = self._judged(measured)
        unfinished = report.ended not in ("exit", "probe") or report.crash is not None
        nothing = result.outcome == "impossible" or self.kind == "nonfinite" and not measured["backwards"]
        if unfinished and nothing and result.outcome != "found":
            return self._impossible(report)  # there was more to come
        return result

    def _compared(self) -> Result:
        """Two runs as they are; where they differ, two more with seeds that are set for them."""
        runs: list[Json] = []
        for seed in (None, None, SEED, SEED):
            if len(runs) == 2 and runs[0]["losses"] == runs[1]["losses"] and runs[0]["values"] == runs[1]["values"]:
                break
            measured, report = self._run({"seed": seed})
            if measured is None or report.cancelled:
                return self._impossible(report)
            runs.append(measured)
        return self._judged({"runs": runs})

    def _judged(self, measured: Json) -> Result:
        return JUDGES[self.kind](measured, place_of)

    def _run(self, settings: Json) -> tuple[Json | None, RunReport]:
        found: list[Json] = []

        def listen(event: Json) -> None:
            if event.get("event") == "probe":
                found.append(event)

        steps = self.steps if self.steps is not None else STEPS[self.kind]
        given = {"kind": self.kind, "steps": steps, **settings}
        job = Run(self.script, self.arguments, self.interpreter, self.cwd, listen, module=self.module)
        job.limits = Limits(without=NOT_RECORDED, probe=given)
        job.timeout = self.timeout
        self.start(job)
        report = self.report = job.execute()
        return (found[0] if found else None), report

    def _impossible(self, report: RunReport) -> Result:
        """Why there is no result; of a crash, what is known of it."""
        place, text, first = None, message("probe.no_torch"), None
        if report.ended in ("timeout", "interrupted", "cancelled", "signal"):
            text = message(f"probe.{report.ended}", seconds=number(self.timeout))
        elif report.crash is not None and report.diagnostics:
            report = self.report = self.explain(report)
            first = report.diagnostics[0]
            text = message("probe.crashed", error=first.message)
            place = Place(first.path, first.start, first.end)
        elif report.exit_code:
            text = message("probe.failed", status=report.exit_code)
        return Result(self.kind, "impossible", text, place, diagnosis=first)

    def explained(self, result: Result, analysis: Iterable[Diagnostic]) -> Result:
        """The result with what the analysis says of the crash that ended the script."""
        if result.diagnosis is None or self.report is None:
            return result
        self.report = self.report.explained(analysis)
        return self._impossible(self.report)


def place_of(found: Json | None) -> Place | None:
    """A place as the script's process tells it; the whole line where it does not know the columns."""
    if found is None:
        return None
    path = os.path.abspath(found["path"])
    try:
        source = SourceText(path, read_source(path))
    except Unreadable:
        source = SourceText(path, "")
    span = found.get("span")
    if span is not None and source.text:
        return Place(path, source.from_utf8(span[0], span[1]), source.from_utf8(span[2], span[3]))
    line = found["line"]
    text = source.line(line) if line <= source.line_count else ""
    start = len(text) - len(text.lstrip()) + 1
    return Place(path, Position(line, start), Position(line, max(len(text.rstrip()) + 1, start + 1)))

"""``torchsleuth estimate``: the memory that a step of a training takes, before it runs."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.cli.files import PathNames, is_script, not_python
from torchsleuth.cli.output import complain, data, line
from torchsleuth.messages import message
from torchsleuth.numbers import share, size
from torchsleuth.schema import MemoryEstimate
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable

MOST_PARTS = 10
"""Lines of the largest contributors that are printed."""
LEAST_SHARE = 0.005
"""Of the peak, below which a line is not listed."""
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<prefix>[kmgt]?)(?P<binary>i?)b?", re.IGNORECASE)
_POWERS = "kmgt"


@dataclass(frozen=True)
class Options:
    """The options of the command."""

    batch: int | None = None
    device_memory: str | None = None
    device: str | None = None
    as_json: bool = False
    python: str | None = None


def estimate(script: Path, options: Options) -> int:
    """The exit status: 0, 1 where it is not known or does not fit, 2 where it could not work."""
    if not is_script(script):
        return 2
    limit = None
    if options.device_memory is not None:
        limit = size_of(options.device_memory)
        if limit is None:
            complain(message("cli.estimate.size", text=options.device_memory))
            return 2
    worker = WorkerClient(options.python or sys.executable)
    try:
        text = read_source(script)
        if (reason := not_python(script, text)) is not None:
            complain(reason)
            return 2
        roots, device = (os.getcwd(),), options.device
        analysis = worker.estimate(str(script), text, roots=roots, batch=options.batch, limit=limit, device=device)
    except (Unreadable, WorkerUnavailable) as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    for internal_error in analysis.stats.get("internal_errors") or ():
        complain(message("cli.internal_error", error=internal_error))
    found = analysis.memory
    if found is None:
        complain(message("cli.incomplete", path=script, reason=analysis.stats.get("incomplete")))
        return 2
    if options.as_json:
        data(json.dumps(found.to_json(), indent=2))
    else:
        _print(found, PathNames([str(script)]))
    too_much = limit is not None and found.size is not None and found.size > limit
    return 1 if found.size is None or too_much else 0


def size_of(text: str) -> int | None:
    """The bytes that ``24GiB`` or ``500 MB`` are, None for what is no size."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    power = _POWERS.find(match["prefix"].lower()) + 1 if match["prefix"] else 0
    return int(float(match["number"]) * (1024 if match["binary"] else 1000) ** power)


def _print(found: MemoryEstimate, names: PathNames) -> None:
    if found.size is None:
        line(message("memory.unknown", reason=found.reason))
        return
    phase = message(f"memory.phase.{found.phase}")
    whole = size(found.size)
    if found.batch is None:
        line(message("memory.peak", size=whole, phase=phase, line=found.line))
    else:
        more = {"batch": found.batch, "device": found.device}
        line(message("memory.peak.of", size=whole, phase=phase, line=found.line, **more))
    for kind, total in found.sums().items():
        line("    " + message("memory.sum", size=size(total).rjust(10), kind=message(f"memory.kind.{kind}")))
    for part in (part for part in found.parts[:MOST_PARTS] if part.size >= LEAST_SHARE * found.size):
        place = f"{names.shown(part.path)}:{part.line}"
        line(message("memory.part", place=place, size=size(part.size), kind=message(f"memory.kind.{part.kind}")))
    if found.remedies:
        line(message("memory.remedies"))
    for remedy in found.remedies:
        change = "−" + share((found.size - remedy.size) / found.size)
        values = {"size": size(remedy.size).rjust(10), "change": change, "about": remedy.about}
        line("    " + message(f"memory.remedy.{remedy.name}", **values))
    if found.limit is not None:
        identifier = "unknown" if found.fits is None else "none"
        limit = size(found.limit)
        text = (
            message("memory.fits", batch=found.fits, limit=limit)
            if found.fits
            else message(f"memory.fits.{identifier}", limit=limit)
        )
        line(text)

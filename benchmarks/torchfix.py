"""TorchFix on a folder, and whether the rules report the same: on which line, under which code, with a fix or not."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.cli.files import Unreadable, read_source
from torchsleuth.rules.registry import RULES
from torchsleuth.worker.engine import Engine

COUNTERPARTS = {
    "TOR001": "TS801",
    "TOR002": "TS410",
    "TOR003": "TS804",
    "TOR004": "TS801",
    "TOR101": "TS802",
    "TOR102": "TS803",
    "TOR103": "TS802",
    "TOR104": "TS808",
    "TOR105": "TS808",
    "TOR106": "TS705",
    "TOR107": "TS705",
    "TOR201": "TS806",
    "TOR202": "TS807",
    "TOR203": "TS809",
    "TOR401": "TS703",
}
"""All of its rules but TOR901, which is about the tests of PyTorch itself."""
_LINE = re.compile(r"^(?P<path>.+?):(?P<line>\d+):\d+: (?P<code>TOR\d+)(?P<fix> \[\*\])? ")


@dataclass(frozen=True)
class Report:
    path: str
    line: int
    code: str
    fixable: bool


def reports(venv: Path, folder: Path) -> list[Report]:
    """What TorchFix, installed in a virtual environment, says about a folder with all its rules on."""
    command = [venv / "bin" / "torchfix", "--select", ",".join(COUNTERPARTS), folder.resolve()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    found = (_LINE.match(line) for line in done.stdout.splitlines())
    return [
        Report(os.path.join(folder, match["path"]), int(match["line"]), match["code"], match["fix"] is not None)
        for match in found
        if match is not None
    ]


def compare(engine: Engine, venv: Path, folder: Path) -> Iterator[str]:
    """A line for each of TorchFix's codes, and one for each report that has no counterpart."""
    theirs = reports(venv, folder)
    reported, met, fixable, fixed = (Counter[str]() for _ in range(4))
    missed: list[str] = []
    for path in sorted({report.path for report in theirs}):
        try:
            text = read_source(Path(path))
        except Unreadable:
            continue
        found = engine.analyze(path, text, codes=tuple(RULES)).diagnostics
        ours = {(item.start.line, item.code): bool(item.fixes) for item in found}
        for report in (report for report in theirs if report.path == path):
            key = (report.line, COUNTERPARTS[report.code])
            reported[report.code] += 1
            met[report.code] += key in ours
            fixable[report.code] += report.fixable
            fixed[report.code] += report.fixable and ours.get(key, False)
            if key not in ours:
                missed.append(f"  missed: {path}:{report.line} {report.code}")
            elif report.fixable and not ours[key]:
                missed.append(f"  no fix: {path}:{report.line} {report.code}")
    for code in sorted(reported):
        yield (
            f"{code} ({COUNTERPARTS[code]}): {met[code]} of {reported[code]} reported here too, "
            f"{fixed[code]} of its {fixable[code]} fixes"
        )
    yield f"together: {met.total()} of {reported.total()}, {fixed.total()} of {fixable.total()} fixes"
    yield from missed

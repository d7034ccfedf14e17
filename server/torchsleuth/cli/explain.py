"""``torchsleuth explain``: what is known of each expression on a line, why the rest is unknown, and what that has most often."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from torchsleuth.cli.files import PathNames, is_script
from torchsleuth.cli.output import complain, data, line
from torchsleuth.cli.render import to_json
from torchsleuth.messages import message
from torchsleuth.schema import Cause, Explanation, FileAnalysis, Json
from torchsleuth.syntax.files import Unreadable, python_files, read_source
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable

MOST_CAUSES = 30
"""First causes that are printed."""
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[1-9]\d*)(?::(?P<column>[1-9]\d*))?")


def explain(place: str, output_format: str, python: str | None) -> int:
    """`place`: ``train.py:12`` or ``train.py:12:5``. The exit status."""
    match = _PLACE.fullmatch(place)
    if match is None:
        complain(message("cli.explain.place", place=place))
        return 2
    file, row, column = Path(match["file"]), int(match["line"]), int(match["column"] or 0)
    if not is_script(file):
        return 2
    worker = WorkerClient(python or sys.executable)
    try:
        analysis = worker.explain(str(file), read_source(file), roots=(os.getcwd(),), first=row, last=row)
    except (Unreadable, WorkerUnavailable) as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    _warn(analysis)
    found = analysis.explanations
    if column:
        found = tuple(one for one in found if _covers(one, row, column))[-1:]
    if output_format == "json":
        data(to_json(found))
        return 0
    if not found:
        line(message("cli.explain.nothing", path=file, line=row))
    names = PathNames([str(file)])
    for one in found:
        known = message("why.or").join(one.known)
        line(f"{file}:{one.start.line}:{one.start.column}: {one.expression}: {known}")
        for cause in one.causes:
            line(f"    {names.shown(cause.path)}:{cause.start.line}:{cause.start.column}: {cause.text}")
    return 0


@dataclass
class FirstCause:
    """Why expressions are unknown in the end: how many, and the first place where it is so."""

    reason: str
    name: str
    text: str
    place: str
    expressions: int = 0

    def to_json(self) -> Json:
        return asdict(self)


def first_causes(paths: list[str], output_format: str, python: str | None) -> int:
    """Print what keeps most expressions of files and folders unknown, the most frequent first. The exit status."""
    files = [file for path in paths for file in python_files(Path(path), lambda path: False, complain)]
    found: dict[tuple[str, str], FirstCause] = {}
    names, looked_at, unknown = PathNames(map(str, files)), 0, 0
    worker = WorkerClient(python or sys.executable)
    try:
        for file in files:
            try:
                analysis = worker.explain(str(file), read_source(file), roots=(os.getcwd(),))
            except Unreadable as error:
                complain(str(error))
                continue
            _warn(analysis)
            looked_at += len(analysis.explanations)
            for cause in (one.causes[-1] for one in analysis.explanations if one.causes):
                unknown += 1
                _counted(found, cause, names).expressions += 1
    except WorkerUnavailable as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    ranked = sorted(found.values(), key=lambda cause: -cause.expressions)
    if output_format == "json":
        data(to_json(ranked))
        return 0
    line(message("cli.explain.causes", unknown=unknown, total=looked_at, files=len(files)))
    for first in ranked[:MOST_CAUSES]:
        line(f"{first.expressions:6}  {first.text}  ({first.place})")
    return 0


def _counted(found: dict[tuple[str, str], FirstCause], cause: Cause, names: PathNames) -> FirstCause:
    place = f"{names.shown(cause.path)}:{cause.start.line}"
    return found.setdefault((cause.reason, cause.name), FirstCause(cause.reason, cause.name, cause.text, place))


def _warn(analysis: FileAnalysis) -> None:
    """Internal errors and exhausted budgets are part of why something is unknown."""
    if analysis.stats.get("incomplete"):
        complain(message("cli.incomplete", path=analysis.path, reason=analysis.stats["incomplete"]))
    for internal_error in analysis.stats.get("internal_errors") or ():
        complain(message("cli.internal_error", error=internal_error))


def _covers(one: Explanation, row: int, column: int) -> bool:
    return (one.start.line, one.start.column) <= (row, column) < (one.end.line, one.end.column)

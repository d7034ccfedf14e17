"""From the report of a crash to one diagnostic on the innermost line of the user's, with its fixes."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import chain

from torchsleuth.errors import processes
from torchsleuth.errors.built import arguments_here
from torchsleuth.errors.case import Case, CrashFrame, Sources
from torchsleuth.errors.catalogue import find
from torchsleuth.errors.constructor import related_constructor
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.general import at_causes, causes_mended, generally
from torchsleuth.errors.origin import related_origins
from torchsleuth.errors.provenance import straight
from torchsleuth.errors.settings import settings_of_layer
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix, Json, Related
from torchsleuth.syntax import edits

MAX_FIXES = 4
MAX_RESULTS = 2
"""Places where a value was given back that are shown."""
_OF_VALUES = ("RuntimeError", "ValueError", "IndexError", "TypeError", "AssertionError", "_LinAlgError", "LinAlgError")
MAX_CALLERS = 3


def crash_diagnostic(crash: Json, sources: Sources) -> Diagnostic | None:
    """The diagnostic of a crash, None if no line of the user's took part in it. It is an error, whatever
    the analysis calls the same fault: the script stopped there. Fixes are not verified: only running the repaired script
    does that."""
    if not crash["frames"]:
        return None
    entry, case = find(crash, sources)
    span, fault = case.frame.span, entry.fault_of(case)
    return Diagnostic(
        case.frame.path,
        fault.code,
        fault.name,
        fault.severity if entry in processes.ENTRIES else "error",
        _text(entry, case),
        span.start,
        span.end,
        _places(entry, case),
        _distinct(entry, case),
        layer="run",
        operands=case.measured,
    )


def _places(entry: ErrorEntry, case: Case) -> tuple[Related, ...]:
    """The places that explain a crash, beginning with what is known to be its cause."""
    causes = [] if entry in processes.ENTRIES else at_causes(case)
    others = [
        *related_constructor(case),
        *arguments_here(case),
        *settings_of_layer(case),
        *entry.related(case),
        *_origins(entry, case),
        *_callers(case),
    ]
    shown = {(place.path, place.start.line) for place in causes}
    return (*causes, *(place for place in others if (place.path, place.start.line) not in shown))


def _origins(entry: ErrorEntry, case: Case) -> list[Related]:
    """Where the operands come from, which had nothing to do with it where a process was ended, or waits."""
    if entry in processes.ENTRIES:
        return []
    origins = related_origins(case)
    shown = {(place.path, place.start.line) for place in origins}
    return [*_results(case, shown), *origins]


def _results(case: Case, shown: set[tuple[str, int]]) -> list[Related]:
    """Where functions that are no longer running gave back what the operands are."""
    running = {(frame.path, frame.line) for frame in case.frames} | shown
    found: dict[tuple[str, int], Related] = {}
    for operand in case.frame.operands() if case.crash["type"] in _OF_VALUES else ():
        for file, node in straight(case, case.frame, operand):
            span = file.source.span(node)
            if (file.path, span.start.line) not in running and _is_result(file, node):
                text = message("error.comes_from", name=case.frame.source.on_one_line(operand)[:40])
                found.setdefault((file.path, span.start.line), Related(file.path, span.start, span.end, text))
    return list(found.values())[:MAX_RESULTS]


def _is_result(file: CrashFrame, node: ast.expr) -> bool:
    """Whether a value is what a function returns, or what a layer, or one of its own, gives."""
    statement = edits.enclosing_statement(file.tree, node)
    if isinstance(statement, ast.Return):
        return True
    return isinstance(node, ast.Call) and isinstance(statement, ast.Assign) and statement.value is node


def _text(entry: ErrorEntry, case: Case) -> str:
    identifier = entry.text if isinstance(entry.text, str) else entry.text(case)
    try:
        text = message(identifier, **case.values(), **entry.values(case))
        if entry.plain:
            text = message("error.explained", text=text, here=case.values()["here"])
    except KeyError:  # a number that this crash does not show: PyTorch's own words then
        text = message("error.generic", **case.values())
    return " ".join(text.split())


def _distinct(entry: ErrorEntry, case: Case) -> tuple[Fix, ...]:
    """The first few fixes, each edit once, and none that changes nothing."""
    found: dict[object, Fix] = {}
    at_cause = (replace(fix, at_cause=True) for fix in causes_mended(case))
    for fix in chain(at_cause, entry.fixes(case), generally(case)):
        changes = any(case.sources(edit.path).slice(edit.start, edit.end) != edit.new_text for edit in fix.edits)
        if changes:
            found.setdefault(fix.edits, fix)
        if len(found) == MAX_FIXES:
            break
    return tuple(found.values())


def _callers(case: Case) -> list[Related]:
    """The user's calls that led to the failing line."""
    related = []
    for frame in case.frames[1 : 1 + MAX_CALLERS]:
        span = frame.span
        related.append(
            Related(span.path, span.start, span.end, message("error.called_here", function=frame.function), call=True)
        )
    return related

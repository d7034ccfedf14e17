"""From the report of a crash to one diagnostic on the innermost line of the user's, with its fixes."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from torchsleuth.errors import processes
from torchsleuth.errors.built import arguments_here
from torchsleuth.errors.case import Case, Sources
from torchsleuth.errors.catalogue import find
from torchsleuth.errors.constructor import related_constructor
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.general import at_causes, causes_mended, generally
from torchsleuth.errors.origin import related_origins
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix, Json, Related

MAX_FIXES = 4
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
        *entry.related(case),
        *_origins(entry, case),
        *_callers(case),
    ]
    shown = {(place.path, place.start.line) for place in causes}
    return (*causes, *(place for place in others if (place.path, place.start.line) not in shown))


def _origins(entry: ErrorEntry, case: Case) -> list[Related]:
    """Where the operands come from, which had nothing to do with it where a process was ended, or waits."""
    return [] if entry in processes.ENTRIES else related_origins(case)


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

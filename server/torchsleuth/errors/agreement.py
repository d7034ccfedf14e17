"""One answer out of two: a crash that the analysis can explain gets its explanation, its trail and its verified fixes.

Where the analysis supposes other sizes than the run has seen, it speaks of something else, and nothing is taken from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix, Related

GENERIC = frozenset({"TS199", "TS918"})
"""Codes of errors that are only repeated."""
_SAME_FAULT = {
    "TS101": {"TS118", "TS120"},
    "TS103": {"TS117", "TS118", "TS119", "TS120"},
    "TS104": {"TS117", "TS118", "TS120"},
    "TS108": {"TS118"},
    "TS110": {"TS117", "TS119"},
    "TS113": {"TS117", "TS118"},
    "TS310": {"TS117", "TS619"},
    "TS401": {"TS402", "TS407", "TS519"},
    "TS402": {"TS401"},
    "TS405": {"TS408"},
    "TS409": {"TS205"},
    "TS511": {"TS529", "TS519"},
    "TS602": {"TS601"},
}
"""The codes under which the analysis finds early what ends a run with another one."""
_READ_BEFORE = {"TS825": {"TS826"}}
"""Codes that the analysis gives beside that of the crash itself: where a value was read as something else."""
_NAMED = re.compile(r"`([^`]+)` (?:is )?(\([\d, ]*\))")
_MAX_RELATED = 7
_MAX_CALLS = 2
"""Calls that are shown beside as many other places as there may be."""
_MAX_FIXES = 4


def explained(crash: Diagnostic, analysis: Iterable[Diagnostic]) -> Diagnostic:
    """The diagnostic of a crash with what the analysis knows about it."""
    return _with_change(_explained(crash, [item for item in analysis if item.severity != "hint"]))


def _explained(crash: Diagnostic, found: list[Diagnostic]) -> Diagnostic:
    here = [item for item in found if _overlaps(item, crash) and not _contradicts(item, crash)]
    codes = {crash.code, *_SAME_FAULT.get(crash.code, ())}
    same = [item for item in here if item.code == crash.code] or [item for item in here if item.code in codes]
    errors = [item for item in here if item.severity == "error"]
    exact = [item for item in errors if (item.start, item.end) == (crash.start, crash.end)]
    exact += [item for item in errors if crash.code in GENERIC and item not in exact and _is_inside(item, crash)]
    if crash.code in GENERIC:
        exact += [item for item in found if item.severity == "error" and _made_it(item, crash)]
    said = (same or exact)[:1]
    if said and (same or crash.code in GENERIC or said[0].code not in GENERIC):
        if said[0] in exact and said[0].code not in GENERIC:
            crash = replace(crash, code=said[0].code, name=said[0].name)
        crash = _taken_over(crash, said[0])
        codes = _READ_BEFORE.get(crash.code, set())
    elsewhere = [item for item in found if item.code in codes and item.code not in GENERIC and item not in here]
    if len(elsewhere) == 1 and not _contradicts(elsewhere[0], crash):
        return _with_cause(crash, elsewhere[0])
    return crash


def _overlaps(one: Diagnostic, other: Diagnostic) -> bool:
    return one.path == other.path and one.start < other.end and other.start < one.end


def _is_inside(one: Diagnostic, other: Diagnostic | Related) -> bool:
    """Whether a diagnostic speaks of a part of what another one, or a note, speaks of."""
    return one.path == other.path and other.start <= one.start and one.end <= other.end


def _made_it(found: Diagnostic, crash: Diagnostic) -> bool:
    """Whether the analysis finds an error where a value of the crash comes from."""
    return any(not place.call and _is_inside(found, place) for place in crash.related)


def _contradicts(analysis: Diagnostic, crash: Diagnostic) -> bool:
    """Whether both name a tensor, and not with the same shape."""
    observed = dict(_NAMED.findall(crash.message))
    return any(observed.get(name, shape) != shape for name, shape in _NAMED.findall(analysis.message))


def _taken_over(crash: Diagnostic, analysis: Diagnostic) -> Diagnostic:
    """The explanation of the analysis, at the place and under the name of the crash, with the sizes that were seen."""
    seen = [f"`{name}` {shape}" for name, shape in _NAMED.findall(crash.message)]
    new = [text for text in dict.fromkeys(seen) if text.rpartition("` ")[2] not in analysis.message]
    text = message("error.observed", text=analysis.message, seen=", ".join(new)) if new else analysis.message
    return replace(
        crash,
        message=text,
        related=_distinct([*analysis.related, *_without(crash.related, analysis.related)]),
        fixes=_fixes(analysis.fixes, crash.fixes),
    )


def _with_cause(crash: Diagnostic, cause: Diagnostic) -> Diagnostic:
    """A crash whose cause the analysis has found at another place."""
    note = Related(cause.path, cause.start, cause.end, cause.message)
    return replace(
        crash,
        related=_distinct([note, *cause.related, *_without(crash.related, (note, *cause.related))]),
        fixes=_fixes(cause.fixes, crash.fixes),
    )


def _with_change(crash: Diagnostic) -> Diagnostic:
    """A note at what the first fix changes, if it was verified and no other note stands on that line."""
    fix = crash.fixes[0] if crash.fixes else None
    if fix is None or not fix.verified:
        return crash
    places = [(crash.path, crash.start, crash.end), *((item.path, item.start, item.end) for item in crash.related)]
    shown = {(path, line) for path, start, end in places for line in range(start.line, end.line + 1)}
    for edit in fix.edits:
        if (edit.path, edit.start.line) not in shown:
            note = Related(edit.path, edit.start, edit.end, message("error.to_change", fix=fix.title))
            return replace(crash, related=(note, *crash.related)[:_MAX_RELATED])
    return crash


def _without(related: Iterable[Related], others: Iterable[Related]) -> list[Related]:
    """The places whose lines the others do not show."""
    lines = {(item.path, item.start.line) for item in others}
    return [item for item in related if (item.path, item.start.line) not in lines]


def _distinct(related: Sequence[Related]) -> tuple[Related, ...]:
    """Each place once; calls, which both sides list, behind the others."""
    places: dict[object, Related] = {}
    for item in sorted(related, key=lambda item: item.call):
        places.setdefault((item.path, item.start), item)
    others = [item for item in places.values() if not item.call]
    calls = [item for item in places.values() if item.call]
    return (*others[:_MAX_RELATED], *calls[: max(_MAX_CALLS, _MAX_RELATED - len(others))])


def _fixes(first: Sequence[Fix], then: Sequence[Fix]) -> tuple[Fix, ...]:
    """Those that change the cause in front, then those that the analysis has verified; each edit once."""
    fixes: dict[object, Fix] = {}
    for fix in sorted((*first, *then), key=lambda fix: (not fix.at_cause, not fix.verified)):
        fixes.setdefault(fix.edits, fix)
    return tuple(fixes.values())[:_MAX_FIXES]

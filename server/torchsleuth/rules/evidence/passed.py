"""Repairs at the call whose sizes break a condition of what it calls: the argument padded, resampled, cropped, or made otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp.trace import BrokenCondition
from torchsleuth.rules.evidence.operands import package_name, replaced, resized, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding


def at_the_call(analysis: Analysis, finding: Finding) -> Iterator[Candidate]:
    """Repairs of the argument of the call that leads to a finding."""
    broken = analysis.trace.broken.get(finding.at)
    if broken is None or broken.passed is None:
        return
    wanted = broken.larger or broken.smaller
    if wanted is not None:
        yield from _made(broken, wanted)
    if broken.argument is None or not any(broken.argument is one for one in _written(broken)):
        return
    if broken.larger is not None:
        yield from _padded(broken, broken.larger)
        yield from _resampled(broken, broken.larger)
    if broken.smaller is not None:
        yield from _cropped(broken, broken.smaller)


def _written(broken: BrokenCondition) -> Iterator[object]:
    node = broken.call.node
    yield from getattr(node, "args", ())
    yield from (keyword.value for keyword in getattr(node, "keywords", ()))


def _made(broken: BrokenCondition, wanted: tuple[int, ...]) -> Iterator[Candidate]:
    """The tensor made with other sizes, where they are written down."""
    assert broken.passed is not None
    each = [
        next(iter(resized(broken.passed, axis, size)), None)
        for axis, (size, before) in enumerate(zip(wanted, broken.shape))
        if size != before
    ]
    found = [one for one in each if one is not None]
    if found and len(found) == len(each):
        title = "; ".join(dict.fromkeys(one.title for one in found))
        yield Candidate(title, tuple(dict.fromkeys(edit for one in found for edit in one.edits)), safe=False)


def _padded(broken: BrokenCondition, wanted: tuple[int, ...]) -> Iterator[Candidate]:
    functional = package_name(broken.call, "torch.nn.functional")
    if functional is None or broken.argument is None:
        return
    more = [size - before for size, before in zip(wanted, broken.shape)]
    first = next(axis for axis, extra in enumerate(more) if extra)
    amounts = [str(amount) for extra in reversed(more[first:]) for amount in (0, extra)]
    text = broken.call.source.segment(broken.argument)
    new = f"{functional}.pad({text}, ({', '.join(amounts)}))"
    yield replaced(broken.call, broken.argument, new, safe=False)


def _resampled(broken: BrokenCondition, wanted: tuple[int, ...]) -> Iterator[Candidate]:
    functional = package_name(broken.call, "torch.nn.functional")
    floating = broken.passed is not None and (broken.passed.spec.dtype or "").startswith("float")
    if (
        functional is None
        or broken.argument is None
        or not floating
        or len(wanted) < 3
        or wanted[:2] != broken.shape[:2]
    ):
        return
    text = broken.call.source.segment(broken.argument)
    sizes = str(wanted[2:]) if len(wanted) > 3 else str(wanted[2])
    new = f"{functional}.interpolate({text}, size={sizes})"
    yield replaced(broken.call, broken.argument, new, safe=False)


def _cropped(broken: BrokenCondition, wanted: tuple[int, ...]) -> Iterator[Candidate]:
    if broken.argument is None:
        return
    kept = [f":{size}" if size != before else ":" for size, before in zip(wanted, broken.shape)]
    while kept[-1] == ":":
        kept.pop()
    first = next(axis for axis, part in enumerate(kept) if part != ":")
    index = ", ".join(["...", *kept[first:]] if first > 1 and len(kept) == len(wanted) else kept)
    new = f"{written(broken.call.source, broken.argument)}[{index}]"
    yield replaced(broken.call, broken.argument, new, safe=False)

"""What happens in every step of a training or evaluation loop, and from one iteration to the next."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp.trace import LibraryCall, LoopPoint
from torchsleuth.rules.rule import Analysis


def in_every_step(analysis: Analysis, paths: tuple[str, ...], kinds: tuple[str, ...]) -> Iterator[LibraryCall]:
    """Calls of these functions in each iteration of a loop in which events of these kinds happen."""
    steps = {event.loops[-1] for event in analysis.trace.events if event.kind in kinds and event.loops}
    inside = [
        call
        for call in analysis.trace.calls
        if call.path in paths and call.certain and call.loops and call.loops[-1] in steps
    ]
    seen = {(call.site.span, call.loops[-1].execution, call.loops[-1].iteration) for call in inside}
    for call in inside:
        point = call.loops[-1]
        if (call.site.span, point.execution, point.iteration + 1) in seen:
            yield call


def next_iteration(last: tuple[LoopPoint, ...], now: tuple[LoopPoint, ...]) -> LoopPoint | None:
    """The loop that has gone on from one place to the other."""
    for one, two in zip(last, now):
        if one.execution == two.execution and one.iteration != two.iteration:
            return two
        if one != two:
            return None
    return None

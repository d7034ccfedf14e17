"""Events in every step of a training or evaluation loop, and from one iteration to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import LibraryCall, LoopPoint
from torchsleuth.rules.rule import Analysis


def in_every_step(analysis: Analysis, paths: tuple[str, ...], kinds: tuple[str, ...]) -> Iterator[LibraryCall]:
    """Calls of these functions in each iteration of a loop in which events of these kinds happen."""
    steps = {innermost(event.loops) for event in analysis.trace.events if event.kind in kinds} - {None}
    inside = [
        (call, point)
        for path in paths
        for call in analysis.calls.get(path, ())
        if call.certain and (point := innermost(call.loops)) in steps and point is not None
    ]
    seen = {(call.site.span, point.execution, point.iteration) for call, point in inside}
    for call, point in inside:
        if (call.site.span, point.execution, point.iteration + 1) in seen:
            yield call


def innermost(loops: tuple[LoopPoint, ...]) -> LoopPoint | None:
    """The innermost loop that is a statement: a comprehension in it is a part of its step."""
    return next((point for point in reversed(loops) if isinstance(point.node, ast.For | ast.While)), None)


def next_iteration(last: tuple[LoopPoint, ...], now: tuple[LoopPoint, ...]) -> LoopPoint | None:
    """The loop that has gone on from one place to the other."""
    for one, two in zip(last, now):
        if one.execution == two.execution and one.iteration != two.iteration:
            return two
        if one != two:
            return None
    return None

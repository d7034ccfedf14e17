"""Terms of a loss that judge what an optimizer trains by another network, and are cut off from what is trained."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp.library.optim import given_to, trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.rules.evidence.loops import same_iteration
from torchsleuth.rules.rule import Analysis
from torchsleuth.values import LibraryObject, Tensor, Value, is_unknown
from torchsleuth.values.graph import Cut, cut_of, node_of

_CUTS = frozenset({"detach", "data"})
_MAX_STEPS = 400


def cut_adversary(analysis: Analysis, backward: Event, term: Tensor) -> Cut | None:
    """Where a term is cut off from what the next step trains: what that made goes detached through the network of another
    optimizer."""
    optimizer = _next_step(analysis, backward)
    whole = node_of(term)
    if optimizer is None or whole is None or any(map(is_unknown, given_to(optimizer))):
        return None
    own = {id(part) for part in trained_parts(optimizer)}
    others = {
        id(part) for other in analysis.trace.optimizers if other is not optimizer for part in trained_parts(other)
    } - own
    alive, known = whole.reached
    if not known or not alive & others:
        return None
    for tensor, cut in _detached(analysis, term, own, others):
        behind = node_of(tensor)
        if behind is not None and behind.reached[1] and (behind.reached[0] & own) - alive:
            return cut
    return None


def _next_step(analysis: Analysis, backward: Event) -> LibraryObject | None:
    """The optimizer that steps first after a backward(), in the same iteration."""
    later = (event for event in analysis.events("step") if event.index > backward.index)
    step = next(later, None)
    if step is None or not step.certain or not backward.certain or not backward.loops:
        return None
    near = same_iteration(step, backward) or same_iteration(backward, step)
    return step.subject if near and isinstance(step.subject, LibraryObject) else None


def _detached(analysis: Analysis, term: Tensor, own: set[int], others: set[int]) -> Iterator[tuple[Value, Cut]]:
    """The tensors that go without their graph from layers of one's own to those of others, and so into a term."""
    pending, seen = [(term, False)], set[tuple[int, bool]]()
    for _ in range(_MAX_STEPS):
        if not pending:
            return
        tensor, judged = pending.pop()
        origin, cut = tensor.origin, cut_of(tensor)
        if origin is None or (id(tensor), judged) in seen:
            continue
        seen.add((id(tensor), judged))
        if cut is not None and cut.kind in _CUTS:
            calls = analysis.calls.get(f"Tensor.{cut.kind}", ()) if judged else ()
            yield from ((one.receiver, cut) for one in calls if one.site.span == cut.site.span)
            continue
        call = analysis.operation_of(origin)
        if call is not None and id(call.module) in own:
            continue  # What is cut off in front of it is not what is judged.
        judged = judged or (call is not None and id(call.module) in others)
        pending += [(source, judged) for source in origin.sources]

"""part-without-gradients: a part of the model that an optimizer is to train, and that no gradient reaches.

What it finds
    Layers whose parameters were given to an optimizer, and that run in each training iteration under torch.no_grad(), or
    whose result is detached before it gets to the loss, while the rest of the model is trained. Silent where weights are
    loaded or copied, since such a part may be meant to keep them. And layers in a reentrant checkpoint whose inputs
    all come from what is frozen.
Why it hurts
    Nothing is raised. The part keeps its random values, and the rest learns from what a random network makes of the data.
Example
    with torch.no_grad():
        h = self.encoder(x)
    return self.head(h)
Use instead
    return self.head(self.encoder(x))
Fix safety
    Unsafe: a part that is not to be trained should not require grad instead (`encoder.requires_grad_(False)`).
References
    torch.no_grad, torch.Tensor.detach
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants, has_own_parameters, parts_of
from torchsleuth.interp.library.optim import given_to, trained_parts
from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import reads_gradients
from torchsleuth.rules.evidence.graphs import uncut
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.values import UNKNOWN, Instance, LibraryModule, LibraryObject, is_module
from torchsleuth.values.graph import Cut, node_of

CODE = "TS534"
_KEPT = ("torch.nn.Module.load_state_dict", "torch.load", "copy.deepcopy", "copy.copy")


def find(analysis: Analysis) -> Iterator[Finding]:
    trace = analysis.trace
    passes = analysis.events("backward")
    yield from _checkpointed(analysis)
    known = all(event.node is not None and event.node.reached[1] for event in passes)
    if not passes or not known or any(analysis.calls.get(path) for path in _KEPT):
        return
    if reads_gradients(analysis):
        return
    reached = frozenset().union(*(event.node.reached[0] for event in passes if event.node is not None))
    seen: set[object] = set()
    for optimizer in trace.optimizers:
        if UNKNOWN in given_to(optimizer) or optimizer.identity in trace.escaped:
            continue
        trained = of_kind(trained_parts(optimizer), LibraryModule)
        starved = [part for part in trained if id(part) not in reached and _trainable(part)]
        if not starved or not any(id(part) in reached for part in trained):
            continue
        loops = {point.execution for event in _steps(analysis, optimizer) for point in event.loops}
        for part in starved:
            cut = _cut_off(analysis, part, loops, passes)
            if cut is not None and cut.site.span not in seen and part.identity not in trace.escaped:
                mode = cut.mode.span if cut.mode is not None else cut.site.span
                if mode not in seen:
                    seen |= {mode, cut.site.span}
                    yield _finding(analysis, optimizer, part, cut)


def _checkpointed(analysis: Analysis) -> Iterator[Finding]:
    """Blocks that are checkpointed the old way, with inputs none of which requires grad: nothing in them gets a gradient."""
    for fault in analysis.trace.autograd:
        parts = {id(part) for part in parts_of(fault.tensor)} if fault.kind == "reentrant" else set()
        for optimizer in analysis.trace.optimizers if parts else ():
            trained = of_kind(trained_parts(optimizer), LibraryModule)
            if any(id(part) in parts and part.requires_grad is True for part in trained) and _steps(
                analysis, optimizer
            ):
                block = as_kind(fault.tensor, Instance, LibraryModule)
                name = block.cls.name if isinstance(block, Instance) else getattr(block, "type_name", "")
                text = message("part.checkpointed", part=name)
                yield Finding(fault.at.span, text, (), uncut(analysis, Cut("reentrant", fault.at)))
                break


def _steps(analysis: Analysis, optimizer: LibraryObject) -> list[Event]:
    return [event for event in analysis.events_of(optimizer, "step") if event.certain and event.loops]


def _trainable(part: LibraryModule) -> bool:
    own = part.requires_grad is True and part.slots["training"] is True and has_own_parameters(part)
    return own and part.built is None and not part.slots["attributes"] and not part.slots["tied"]


def _cut_off(analysis: Analysis, part: LibraryModule, loops: set[int], passes: list[Event]) -> Cut | None:
    """The cut that keeps the gradients of the training loop from a layer."""
    for operation, cut in analysis.trace.unrecorded:
        if (
            operation.module is part
            and operation.certain
            and cut.mode is not None
            and _near(operation.loops, loops, passes)
        ):
            return cut
    for call in (*analysis.calls.get("Tensor.detach", ()), *analysis.calls.get("Tensor.data", ())):
        node = node_of(call.receiver)
        if (
            node is None
            or id(part) not in node.reached[0]
            or any(node in used.nodes for used in analysis.trace.operations)
        ):
            continue  # what goes other ways, too, is cut off there
        if _near(call.loops, loops, passes):
            return Cut(call.name, call.site)
    return None


def _near(points: tuple[LoopPoint, ...], loops: set[int], passes: list[Event]) -> bool:
    """Whether something happened in the iteration of a training loop, as one of its backward() calls did."""
    at = {(point.execution, point.iteration) for point in points if point.execution in loops}
    return any(at and at <= {(point.execution, point.iteration) for point in event.loops} for event in passes)


def _finding(analysis: Analysis, optimizer: LibraryObject, part: LibraryModule, cut: Cut) -> Finding:
    whole = as_kind(_whole(analysis, part), LibraryModule, Instance)
    name = whole.name if whole is not None and whole.name else part.type_name
    at = cut.mode if cut.mode is not None else cut.site
    node = at.node.items[0].context_expr if isinstance(at.node, ast.With) else at.node
    span = at.source.span(node) if isinstance(at.node, ast.With) else cut.site.span
    where = message("part.starved.line", line=cut.site.span.start.line) if span != cut.site.span else ""
    places = []
    if optimizer.site is not None:
        places.append(optimizer.site.span.related(message("part.starved.trained")))
    return Finding(span, message("part.starved", part=f"`{name}`", where=where), tuple(places), uncut(analysis, cut))


def _whole(analysis: Analysis, part: LibraryModule) -> object:
    """The largest module around a layer that is an attribute of another one and is cut off as a whole."""
    held = [item.value for item in analysis.trace.attributes if is_module(item.value)]
    around = [module for module in held if any(inner is part for inner in descendants(module))]
    return max(around, key=lambda module: sum(1 for _ in descendants(module)), default=part)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

"""accelerator-bypassed: a part of a training that Accelerate was to take over, and that goes past it.

What it finds
    `loss.backward()` of a model that was given to `accelerator.prepare()`; the optimizer of such a model that was not given to
    it, and its schedule where gradients are accumulated; `gradient_accumulation_steps` without `accelerator.accumulate()`; and a loss that is divided by that number as well.
Why it hurts
    Losses of half precision are not scaled, so that small gradients vanish; steps that are to be skipped are taken; every batch
    is stepped with a fourth of its gradient, or with a sixteenth. On one device in full precision, nothing is seen of it.
Example
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
Use instead
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        loss = criterion(model(x), y)
        accelerator.backward(loss)
Fix safety
    Safe: what the accelerator is given, it does as well.
References
    "Add Accelerate to your code" in the Accelerate documentation
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import parts_of
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import statement_of, trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_assignment,
    is_attribute,
    is_binary,
    is_binding,
    is_method_call,
    keyword_of,
    nodes_in,
    plain_name,
)
from torchsleuth.values import LibraryObject, Tensor, is_module, is_object
from torchsleuth.values.graph import node_of

CODE = "TS571"
_ACCELERATOR = "accelerate.Accelerator"
_STEPS = "gradient_accumulation_steps"


def find(analysis: Analysis) -> Iterator[Finding]:
    prepared = [call for call in analysis.calls.get(f"{_ACCELERATOR}.prepare", ()) if call.certain]
    if prepared:
        yield from _backward(analysis, prepared)
        yield from _optimizer(analysis, prepared)
    yield from _past_fabric(analysis)
    for made in analysis.calls_at_places(_ACCELERATOR):
        steps = made.kwargs.get(_STEPS)
        if is_object(made.result, _ACCELERATOR) and type(steps) is int and steps > 1:
            yield from _accumulation(analysis, made, steps)
            yield from _scheduler(analysis, prepared, steps)


def _past_fabric(analysis: Analysis) -> Iterator[Finding]:
    """``loss.backward()`` in a function that has a Fabric set its model up, and never calls its backward()."""
    source = analysis.source
    made = {id(use.node) for use in analysis.names.uses if use.path.rpartition(".")[2] == "Fabric"}
    for function in analysis.index(source.path).of_type(ast.FunctionDef) if made else ():
        names = {
            part.targets[0].id
            for part in nodes_in(function, ast.Assign)
            if is_binding(part) and isinstance(part.value, ast.Call) and id(part.value.func) in made
        }
        calls = [part for part in nodes_in(function, ast.Call) if is_method_call(part)]
        own = {part.func.attr for part in calls if plain_name(part.func.value) in names}
        if len(names) != 1 or "backward" in own or not own & {"setup", "setup_module"}:
            continue
        fabric = names.pop()
        for part in calls:
            if is_method_call(part, "backward") and not part.args and not part.keywords:
                loss = source.segment(part.func.value)
                fixes = [replacement(source, part, f"{fabric}.backward({loss})")]
                yield Finding(source.span(part), message("fabric.backward", loss=loss, fabric=fabric), (), fixes)


def _backward(analysis: Analysis, prepared: list[LibraryCall]) -> Iterator[Finding]:
    """``loss.backward()``, where the loss reaches a model that was prepared."""
    own = {call.site.span for call in analysis.calls.get(f"{_ACCELERATOR}.backward", ())}
    parts = {id(part) for call in prepared for given in call.args if is_module(given) for part in parts_of(given)}
    seen: set[Span] = set()
    for call in analysis.calls.get("Tensor.backward", ()):
        node, graph = call.site.call, node_of(call.receiver) if isinstance(call.receiver, Tensor) else None
        if graph is None or call.site.span in own | seen or not is_method_call(node, "backward") or node.args:
            continue
        if graph.reached[0] & parts and not node.keywords:
            seen.add(call.site.span)
            source = call.site.source
            accelerator = _name(prepared[0])
            fixes = []
            if accelerator is not None:
                new = f"{accelerator}.backward({source.segment(node.func.value)})"
                fixes = [replacement(source, node, new)]
            place = prepared[0].site.span.related(message("accelerator.prepared"))
            text = message("accelerator.backward", loss=source.segment(node.func.value))
            yield Finding(call.site.span, text, (place,), fixes)


def _name(call: LibraryCall) -> str | None:
    """The name of the accelerator where it is called."""
    node = call.site.call
    return call.site.source.segment(node.func.value) if is_method_call(node) else None


def _optimizer(analysis: Analysis, prepared: list[LibraryCall]) -> Iterator[Finding]:
    """The optimizer of a model that was prepared, which was not."""
    others = [
        call for path, calls in analysis.calls.items() if path.startswith(f"{_ACCELERATOR}.prepare_") for call in calls
    ]
    given = [value for call in (*prepared, *others) for value in call.args]
    stepped = {id(event.subject): event for event in analysis.events("step")}
    for optimizer in {id(one): one for one in analysis.trace.optimizers}.values():
        if any(one is optimizer for one in given) or id(optimizer) not in stepped:
            continue
        call = next(
            (one for one in prepared if any(is_module(part) and trained_by(optimizer, part) for part in one.args)), None
        )
        if call is not None:
            place = stepped[id(optimizer)].site.span.related(message("accelerator.step"))
            text = message("accelerator.optimizer", optimizer=optimizer.type_name)
            yield Finding(call.site.span, text, (place,), tuple(_prepared_too(analysis, call, optimizer)))


def _prepared_too(analysis: Analysis, call: LibraryCall, optimizer: LibraryObject) -> Iterator[Candidate]:
    """``model, loader = accelerator.prepare(model, loader)`` with the optimizer at both ends."""
    statement, node = statement_of(analysis, call.site), call.site.call
    names = [name for name, value in call.site.scene.names.items() if value is optimizer and isinstance(name, str)]
    target = statement.targets[0] if is_assignment(statement) else None
    if node is not None and names and isinstance(target, ast.Tuple) and not node.keywords:
        source = call.site.source
        changes = (
            edits.insert_after_node(source, target.elts[-1], f", {names[0]}"),
            edits.add_argument(source, node, names[0]),
        )
        yield Candidate(message("fix.prepared_too", name=names[0]), changes)


def _accumulation(analysis: Analysis, made: LibraryCall, steps: int) -> Iterator[Finding]:
    """Accumulation that nothing does, and a loss that is divided twice."""
    source = made.site.source
    tree, node = analysis.tree(source.path), made.site.call
    option = keyword_of(node, _STEPS) if node is not None else None
    regions = [
        part
        for part in nodes_in(tree, ast.With)
        if any(called(item.context_expr) == "accumulate" for item in part.items)
    ]
    steps_seen = analysis.calls.get(f"{_ACCELERATOR}.backward")
    if option is None or not steps_seen:
        return
    if not regions and "accumulate(" not in source.text and "no_sync" not in source.text:
        text = message("accelerator.accumulate", steps=steps)
        place = steps_seen[0].site.span.related(message("accelerator.divides", steps=steps))
        yield Finding(source.span(option), text, (place,), tuple(_accumulated(analysis, steps_seen[0])))
    for region in regions:
        losses = {
            plain_name(call.args[0]) for call in nodes_in(region, ast.Call) if called(call) == "backward" and call.args
        }
        for assigned in nodes_in(region, ast.Assign):
            value = assigned.value
            divided = as_kind(value, ast.BinOp) if is_binary(value, ast.Div) else None
            names = {plain_name(target) for target in assigned.targets} & (losses - {None})
            if divided is not None and names and _is_number(divided.right, option.value, steps):
                fix = replacement(source, divided, source.segment(divided.left))
                text = message("accelerator.divided", steps=steps, loss=sorted(filter(None, names))[0])
                place = source.span(option).related(message("accelerator.steps"))
                yield Finding(source.span(divided), text, (place,), (fix,))


def _scheduler(analysis: Analysis, prepared: list[LibraryCall], steps: int) -> Iterator[Finding]:
    """A schedule that was not prepared, and moves on with each batch under accumulate()."""
    given = {id(value) for call in prepared for value in call.args}
    seen: set[int] = set()
    for event in analysis.events("scheduler_step"):
        scheduler, call = event.subject, event.site.call
        path = event.site.span.path
        statement = statement_of(analysis, event.site)
        around = analysis.trail(path, statement) if statement is not None else []
        regions = of_kind(around, ast.With)
        accumulates = any(called(item.context_expr) == "accumulate" for one in regions[-1:] for item in one.items)
        direct = accumulates and any(statement is part for part in regions[-1].body)
        if not isinstance(scheduler, LibraryObject) or id(scheduler) in given | seen or not direct:
            continue
        seen.add(id(scheduler))
        made = next(
            (one for one in prepared if any(value is part for value in one.args for part in scheduler.args)), None
        )
        if made is not None and is_method_call(call):
            name = event.site.source.segment(call.func.value)
            place = event.site.span.related(message("accelerator.scheduler.step"))
            text = message("accelerator.scheduler", name=name, steps=steps)
            yield Finding(made.site.span, text, (place,), tuple(_prepared_too(analysis, made, scheduler)))


def _accumulated(analysis: Analysis, backward: LibraryCall) -> Iterator[Candidate]:
    """``with accelerator.accumulate(model):`` around what is done with each batch."""
    prepared = [call for call in analysis.calls.get(f"{_ACCELERATOR}.prepare", ()) if call.certain]
    models = [given for call in prepared for given in call.args if is_module(given)]
    names = backward.site.scene.names.items()
    model = next((name for name, value in names if any(value is one for one in models) and isinstance(name, str)), None)
    accelerator, path = _name(backward), backward.site.span.path
    statement = statement_of(analysis, backward.site)
    around = analysis.trail(path, statement) if statement is not None else []
    loops = of_kind(around, ast.For)
    if model is not None and accelerator is not None and loops and len(models) == 1:
        header = f"with {accelerator}.accumulate({model}):"
        changes = edits.wrap_all(analysis.source_of(path), loops[-1].body, header)
        yield Candidate(message("fix.wrap", text=header), changes)


def _is_number(divisor: ast.expr, given: ast.expr, steps: int) -> bool:
    """Whether a loss is divided by the number of batches that are accumulated: as a number, or by the same name."""
    own = of_kind([divisor], ast.Constant)
    attribute = is_attribute(divisor, _STEPS)
    return attribute or any(one.value == steps for one in own) or ast.dump(divisor) == ast.dump(given)


RULE = Rule(FAULTS[CODE], find)

"""missing-eval-mode: a trained model is evaluated while its dropout and batch norm are in training mode.

What it finds
    A model with dropout or batch normalisation that is in training mode when it is evaluated: after it was trained, or
    loaded from a file, its output is compared, measured or collected, and nothing goes backward. Also where eval() is
    called, and train() right after it, before the model is.
Why it hurts
    Dropout zeroes values at random and batch norm uses the statistics of the test batch, and even updates its own:
    the measured accuracy is too low, and differs from run to run.
Example
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
Use instead
    model.eval()
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
Fix safety
    Safe where nothing is trained afterwards; otherwise model.train() is put behind the evaluation as well.
References
    torch.nn.Module.eval
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import batch_of
from torchsleuth.interp.library.frameworks import REBUILT
from torchsleuth.interp.library.hierarchy import descendants, is_stand_in
from torchsleuth.interp.trace import Event, LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import feeds
from torchsleuth.rules.evidence.loops import (
    called_text,
    covers,
    draws_again,
    enclosing_block,
    innermost,
    is_alone,
    is_simple,
    is_used,
    made_alike,
    optimizers_of,
    statement_of,
    trained_by,
    uncalled,
    unseen,
    within,
)
from torchsleuth.rules.evidence.modes import ModeDependent, mode_dependent
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Severity
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import contains, is_method_call, nodes_in
from torchsleuth.values import DictValue, LibraryObject, Parameters, Tensor, is_unknown

CODE = "TS505"
_COMPARISONS = frozenset({"eq", "ne"})
_ERRORS = frozenset({"abs", "pow", "square"})
"""Operators that make an error of a difference."""
_DISTANCES = frozenset("mseloss l1loss smoothl1loss huberloss mse_loss l1_loss smooth_l1_loss huber_loss".split())
_LOADED = "torch.nn.Module.load_state_dict"
_DEPTH = 12
"""Operations between the output of a model and what is measured of it."""


def find(analysis: Analysis) -> Iterator[Finding]:
    found: dict[object, tuple[Event, ModeDependent]] = {}
    measures: list[Operation] | None = None
    for event in analysis.events("forward"):
        if event.training is not True or event.site.span in found:
            continue
        layer = next((part for part in mode_dependent(analysis, event.subject) if part.training is True), None)
        layer = layer or _switched_by_use(analysis, event)
        if layer is None:
            continue
        if measures is None:
            measures = [item for item in analysis.trace.operations if _measures(item)]
        if _prepared(analysis, event, measures) and _evaluates(analysis, event, measures):
            found[event.site.span] = (event, layer)
    if found and not unseen(analysis, "eval"):
        for event, layer in found.values():
            yield _finding(analysis, event, layer)


def _switched_by_use(analysis: Analysis, event: Event) -> ModeDependent | None:
    """The train() that a network of which nothing else is known is put into training mode by: whoever writes it has layers
    that depend on the mode."""
    if not is_stand_in(event.subject):
        return None
    switches = [other for other in analysis.events("train") if other.subject is event.subject and other.certain]
    first = next((other for other in switches if other.index < event.index), None)
    return ModeDependent("", first.site, True) if first is not None else None


def _prepared(analysis: Analysis, event: Event, measures: list[Operation]) -> bool:
    """Whether a forward is one of a module in training mode that was trained or loaded before, and was not put into
    training mode for this."""
    trace = analysis.trace
    if event.kind != "forward" or event.training is not True or event.tensor is None:
        return False
    if event.identity in trace.escaped or (event.grad and event.forward_id in trace.consumed):
        return False
    earlier = trace.events[: event.index]
    alike = {other.subject for other in analysis.events("forward") if made_alike(other.subject, event.subject)}
    steps = [other for other in earlier if other.kind == "step" and isinstance(other.subject, LibraryObject)]
    own = optimizers_of((step.subject for step in steps), alike)
    steps = [step for step in steps if step.identity in own]
    steps += [] if trace.optimizers else [e for e in earlier if _trains_by_hand(e, event)]
    since = steps[-1].index if any(step.certain for step in steps) else _loaded(analysis, event, measures)
    if since is None:
        return False
    switches = [other for other in trace.events[since : event.index] if other.kind in ("train", "eval")]
    undone = _undone(analysis, event)
    if undone is not None:
        switches = [other for other in switches if other not in undone]
    return not any(covers(other, event.subject) and not _of_training(trace.events[:since], other) for other in switches)


def _undone(analysis: Analysis, event: Event) -> tuple[Event, Event] | None:
    """The eval() and the train() that a function calls one after the other before a forward without gradients."""
    switches = [
        other
        for other in (*analysis.events("eval"), *analysis.events("train"))
        if other.index < event.index and covers(other, event.subject)
    ]
    *_, first, last = (None, None, *sorted(switches, key=lambda other: other.index))
    if first is None or last is None or (first.kind, last.kind) != ("eval", "train") or event.grad is not False:
        return None
    together = first.site.scene == last.site.scene == event.site.scene and first.certain and last.certain
    between = (other for other in analysis.events("forward") if first.index < other.index < last.index)
    return (first, last) if together and not any(other.subject is event.subject for other in between) else None


def _of_training(before: list[Event], switch: Event) -> bool:
    """Whether a call of train() is one that a round of training began with, and so is not meant for an evaluation."""
    return switch.kind == "train" and any(
        other.kind == "train" and other.certain and other.site.span == switch.site.span for other in before
    )


def _trains_by_hand(update: Event, event: Event) -> bool:
    """Whether a loop over the parameters of a module works with their gradients."""
    given = update.subject.modules if update.kind == "grad_touched" and isinstance(update.subject, Parameters) else ()
    return any(part is event.subject for module in given for part in descendants(module))


def _loaded(analysis: Analysis, event: Event, measures: list[Operation]) -> int | None:
    """When the module got its weights: from a file, in a script that trains nothing, or else for a measurement."""
    trace = analysis.trace
    trains = bool(trace.optimizers) or any(other.kind in ("step", "backward") for other in trace.events)
    for call in reversed(analysis.calls.get(REBUILT, ())):
        if call.certain and call.after <= event.index and not event.grad and not _is_trained(analysis, event):
            if any(part is event.subject for part in descendants(call.receiver)):
                return call.after
    for call in reversed(analysis.calls.get(_LOADED, ())):
        if call.certain and call.after <= event.index:
            if any(part is event.subject for part in descendants(call.receiver)):
                copied = call.args[:1] and isinstance(call.args[0], LibraryObject) and "state_dict" in call.args[0].path
                restored = not event.grad and _is_restored(analysis, call) and not _is_trained(analysis, event)
                return (
                    call.after if restored or _measured(analysis, measures, event) or not (copied or trains) else None
                )
    return None


def _is_restored(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether load_state_dict() is given what a file holds."""
    given = call.args[0] if call.args else None
    held = is_unknown(given) or (isinstance(given, DictValue) and given.from_file)
    return held and any(
        load.after <= call.after and load.site.scene == call.site.scene for load in analysis.calls.get("torch.load", ())
    )


def _is_trained(analysis: Analysis, event: Event) -> bool:
    return any(trained_by(optimizer, event.subject) for optimizer in analysis.trace.optimizers)


def _evaluates(analysis: Analysis, event: Event, measures: list[Operation]) -> bool:
    """Whether the output of a forward is measured or collected, and nothing is trained on it."""
    events = analysis.trace.events
    inner = innermost(event)
    trains = inner is not None and any(e.kind in ("backward", "step") and within(e, inner) for e in events)
    if trains and (event.grad or _seen_in_training(events, event)):
        return False
    if (not trains and draws_again(event)) or _trained_on(analysis, event):
        return False
    if _measured(analysis, measures, event):
        return True
    used = is_used(analysis, event)
    loaded = not analysis.trace.optimizers or _is_from_file(analysis, event)
    evaluates = loaded or _ends_evaluation(analysis, event) or _comes_last(analysis, event)
    return used and not event.grad and (evaluates or (inner is not None and inner.over_loader and not trains))


def _is_from_file(analysis: Analysis, event: Event) -> bool:
    """Whether the model was only loaded from a file."""
    loads = [call for call in analysis.calls.get(_LOADED, ()) if _is_restored(analysis, call)]
    loads += analysis.calls.get(REBUILT, ())
    here = any(part is event.subject for call in loads for part in descendants(call.receiver))
    return here and not _is_trained(analysis, event)


def _comes_last(analysis: Analysis, event: Event) -> bool:
    """Whether samples of a loader are looked at when nothing is trained any more."""
    over = all(e.index < event.index for e in (*analysis.events("backward"), *analysis.events("step")))
    return over and event.tensor is not None and batch_of(event.tensor) is not None


def _ends_evaluation(analysis: Analysis, event: Event) -> bool:
    """Whether the same function then puts the model back into training mode, in which it already is."""
    frame = event.site.scene
    return frame.function is not None and any(
        other.index > event.index and other.site.scene == frame and covers(other, event.subject)
        for other in analysis.events("train")
    )


def _seen_in_training(events: list[Event], event: Event) -> bool:
    """Whether the same iteration trains on the same input: then it is the accuracy in training that is measured."""
    return any(
        other.kind == "forward" and other.grad and other.loops == event.loops and _input(other) == _input(event)
        for other in events
        if other.subject is event.subject and other.site.scene.function is event.site.scene.function
    )


def _input(event: Event) -> str:
    node = event.site.call
    return ast.unparse(node.args[0]) if node is not None and node.args else ""


def _trained_on(analysis: Analysis, event: Event) -> bool:
    """Whether some loss that goes backward was computed from the output of a forward."""
    pending = [other.tensor for other in analysis.events("backward") if other.tensor is not None]
    seen: set[int] = set()
    while pending:
        tensor = pending.pop()
        if tensor is event.tensor:
            return True
        if id(tensor) not in seen and tensor.origin is not None:
            seen.add(id(tensor))
            pending.extend(tensor.origin.sources)
    return False


def _measured(analysis: Analysis, measures: list[Operation], event: Event) -> bool:
    """Whether the output is compared with a target, or ends in a loss. A difference to what another model gives measures
    nothing: it is a priority of samples, or how far a student is from its teacher."""
    assert event.tensor is not None
    models = {id(other.tensor) for other in analysis.events("forward") if other.subject is not event.subject}
    for operation in measures:
        compared = _compared(operation)
        derived = [_derives(tensor, event.tensor) for tensor in compared]
        if any(derived) and not all(derived):
            others = [tensor for tensor, own in zip(compared, derived) if not own]
            if not (_is_error(operation) and any(_is_made_by(tensor, models) for tensor in others)):
                return True
    return False


def _is_error(operation: Operation) -> bool:
    """Whether it measures how far numbers are from others."""
    name = operation.bare_name
    return (
        name in _ERRORS or (operation.module.type_name if operation.module is not None else name).lower() in _DISTANCES
    )


def _is_made_by(tensor: Tensor, models: set[int], depth: int = _DEPTH) -> bool:
    if id(tensor) in models:
        return True
    sources = tensor.origin.sources if tensor.origin is not None and depth > 0 else ()
    return any(_is_made_by(source, models, depth - 1) for source in sources)


def _measures(operation: Operation) -> bool:
    name = operation.bare_name
    loss = operation.module is not None and operation.module.type_name.endswith("Loss")
    compares = name in _COMPARISONS or loss or name.endswith(("_loss", "cross_entropy"))
    return len(_compared(operation)) > 1 and (compares or name in _ERRORS)


def _compared(operation: Operation) -> list[Tensor] | tuple[Tensor, ...]:
    """The values that an operator compares: its operands, or those of the difference that it is applied to."""
    tensors = operation.tensors
    if operation.bare_name not in _ERRORS or not tensors:
        return tensors
    origin = tensors[0].origin
    return origin.sources if origin is not None and origin.bare_name == "sub" else ()


def _derives(tensor: Tensor, source: Tensor, depth: int = _DEPTH) -> bool:
    if tensor is source:
        return True
    if depth == 0 or tensor.origin is None:
        return False
    return any(_derives(part, source, depth - 1) for part in tensor.origin.sources)


def _finding(analysis: Analysis, event: Event, layer: ModeDependent) -> Finding:
    name = called_text(event)
    key = "eval.missing" if layer.name else "eval.missing.by_use"
    places = (layer.site.span.related(message(f"{key}.layer", layer=layer.name)),)
    text = message(
        key,
        module=f"`{name}`" if name else "the model",
        layer=layer.name,
        line=layer.site.span.start.line,
    )
    severity: Severity | None = "hint" if _is_generator(analysis, event) else None
    return Finding(event.site.span, text, places, _inserted(analysis, event, name), severity)


def _is_generator(analysis: Analysis, event: Event) -> bool:
    """Whether the model was trained against another one: its dropout may be the noise that it draws from."""
    backwards = analysis.events("backward")
    own = [optimizer for optimizer in analysis.trace.optimizers if trained_by(optimizer, event.subject)]
    for optimizer in analysis.trace.optimizers if len(own) == 1 else ():
        if optimizer is not own[0]:
            fed = [(feeds(backward, own[0]), feeds(backward, optimizer)) for backward in backwards]
            if (False, True) in fed and (True, True) in fed:
                return True
            # The other one is frozen meanwhile.
            if (False, True) in fed and (True, False) in fed and _judges(analysis, optimizer, event):
                return True
    return False


def _judges(analysis: Analysis, optimizer: LibraryObject, event: Event) -> bool:
    """Whether what an optimizer trains was applied to what the model had made."""
    made = {other.forward_id for other in analysis.events("forward") if other.subject is event.subject}
    return any(other.history & made for other in analysis.events("forward") if trained_by(optimizer, other.subject))


def _inserted(analysis: Analysis, event: Event, name: str | None) -> Iterator[Candidate]:
    """``model.eval()`` before the block that evaluates, and ``model.train()`` behind it where training goes on."""
    block = enclosing_block(analysis, event)
    path = event.site.span.path
    if name is None or block is None or not is_simple(block, analysis, path):
        return
    source = analysis.source_of(path)
    undone = _undone(analysis, event)
    statement = statement_of(analysis, undone[1].site) if undone is not None else None
    if statement is not None and is_alone(statement, analysis, path):
        title = message("fix.remove_line", text=source.segment(statement), line=statement.lineno)
        yield Candidate(title, (edits.remove_line(source, statement.lineno),))
        return
    forgotten = uncalled(analysis, path, name, "eval")
    if forgotten is not None:
        yield Candidate(
            message("fix.parentheses", text=f"{name}.eval"), (edits.insert_after_node(source, forgotten, "()"),)
        )
        return
    yield from _by_phase(analysis, event, name)
    before = edits.insert_line_before(source, block, f"{name}.eval()")
    yield Candidate(message("fix.insert", text=f"{name}.eval()"), (before,))
    if not contains(block, ast.Return):
        after = edits.insert_line_after(source, block, f"{name}.train()")
        title = message("fix.insert_both", first=f"{name}.eval()", second=f"{name}.train()")
        yield Candidate(title, (before, after))


def _by_phase(analysis: Analysis, event: Event, name: str) -> Iterator[Candidate]:
    """``model.train(phase == "train")`` where gradients are switched by such a condition, and train() stands for both."""
    path = event.site.span.path
    source = analysis.source_of(path)
    function = event.site.scene.function
    scope = analysis.index(path).same(function.node) if function is not None else analysis.tree(path)
    for part in ast.walk(scope) if scope is not None else ():
        if not is_method_call(part) or len(part.args) != 1:
            continue
        if part.func.attr != "set_grad_enabled" or isinstance(part.args[0], ast.Constant):
            continue
        for other in nodes_in(scope, ast.Call) if scope is not None else ():
            if ast.unparse(other) == f"{name}.train()":
                text = f"{source.segment(other.func)}({source.segment(part.args[0])})"
                yield replacement(source, other, text)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

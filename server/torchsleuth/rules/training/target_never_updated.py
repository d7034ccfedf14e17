"""target-never-updated: a copy of a network that is bootstrapped from or evaluated, and stays what it was at first.

What it finds
    A loss whose target is `reward + gamma * copy(next_state)`, where the copy was made of the network that is trained, and
    nothing gives it newer weights: no load_state_dict(), no loop over its parameters. Or an evaluation in each epoch of such a
    copy, in the place of the network. An average of weights (`ModelEma` of timm, `AveragedModel`) that nothing updates in a program
    that trains, and that is used all the same.
Why it hurts
    The values of the untrained network are the target for ever, so that the trained one learns the rewards of one step, and
    noise. Nothing is raised.
Example
    target = copy.deepcopy(q)
    for step in range(10000):
        wanted = reward + 0.99 * target(next_state).max(1)[0]
        ...
        optimizer.step()
Use instead
    target = copy.deepcopy(q)
    for step in range(10000):
        wanted = reward + 0.99 * target(next_state).max(1)[0]
        ...
        optimizer.step()
        if step % 100 == 0:
            target.load_state_dict(q.state_dict())
Fix safety
    Unsafe: how often is up to the task.
References
    torch.optim.swa_utils.AveragedModel, timm.utils.ModelEmaV3
    "Reinforcement Learning (DQN) Tutorial" in the PyTorch tutorials
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import STATE, parts_of
from torchsleuth.interp.trace import Event, LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_simple, is_trained, repeated, statement_of, trained_by, unseen
from torchsleuth.rules.evidence.operands import ancestry, operand
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_function_call, is_reference, loads, plain_name
from torchsleuth.values import Tensor, Value, is_module, is_object

CODE = "TS570"
_LOSSES = frozenset("mse_loss MSELoss smooth_l1_loss SmoothL1Loss huber_loss HuberLoss l1_loss L1Loss".split())
_RENEWS = tuple(
    f"torch.nn.Module.{name}" for name in ("parameters", "named_parameters", "state_dict", "load_state_dict")
)
_OFTEN = 50
"""Steps behind which newer weights would be due."""
_PERIOD = 100


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _averages(analysis)
    for made in analysis.calls_at_places("copy.deepcopy"):
        original = made.args[0] if made.args else None
        copy = made.result
        if not is_module(original) or not is_module(copy) or made.loops or not is_trained(analysis, original):
            continue
        if is_trained(analysis, copy) or _is_renewed(analysis, copy, original):
            continue
        loss = next((one for one in analysis.trace.operations if _bootstraps(analysis, one, copy, original)), None)
        if loss is not None:
            yield _finding(analysis, made, loss)
            continue
        evaluation = next(
            (one for one in analysis.events("forward") if _evaluates(analysis, one, copy, original)), None
        )
        if evaluation is not None:
            yield _of_evaluation(analysis, made, evaluation)


_AVERAGES = {
    **dict.fromkeys(("timm.utils.ModelEma", "timm.utils.ModelEmaV2", "timm.utils.ModelEmaV3"), "update"),
    "torch.optim.swa_utils.AveragedModel": "update_parameters",
}
"""Averages of the weights of a model, with the method that is told the newest."""
_READS = frozenset({"module", "eval", "train", "to", "cuda", "requires_grad_", "parameters", "state_dict", "ema"})
"""Methods that are asked of an average without giving it other weights."""


def _averages(analysis: Analysis) -> Iterator[Finding]:
    """``ema = ModelEmaV3(model)``, and then ``ema.module(x)``, without an update in between."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    steps = [one for one in analysis.events("step") if one.loops and one.certain]
    made = {id(one.call): one for one in analysis.names.uses if one.path in _AVERAGES and one.call is not None}
    for statement in index.of_type(ast.Assign) if steps and made else ():
        use = made.get(id(statement.value))
        if use is None or use.call is None or len(statement.targets) != 1 or not is_reference(statement.targets[0]):
            continue
        name = ast.unparse(statement.targets[0])
        places: list[ast.expr] = [*index.of_type(ast.Name), *index.of_type(ast.Attribute)]
        uses = [one for one in places if loads(one) and ast.unparse(one) == name]
        around = [index.parents.get(one) for one in uses]
        plain = all(is_attribute(one, *_READS) or _calls(one, part) for one, part in zip(around, uses))
        used = [one for one in around if is_attribute(one, "module", "ema") or isinstance(one, ast.Call)]
        if plain and used and use.call.args and is_reference(use.call.args[0]):
            place = source.span(used[0]).related(message("average.used"))
            fix = _averaged(analysis, steps[-1], f"{name}.{_AVERAGES[use.path]}({source.segment(use.call.args[0])})")
            yield Finding(source.span(use.call), message("average.never", name=name), (place,), tuple(fix))


def _calls(around: ast.AST | None, part: ast.AST) -> bool:
    return isinstance(around, ast.Call) and around.func is part


def _averaged(analysis: Analysis, step: Event, line: str) -> Iterator[Candidate]:
    """The average updated behind each step."""
    statement, path = statement_of(analysis, step.site), step.site.span.path
    if statement is not None and path == analysis.source.path and is_simple(statement, analysis, path):
        edit = edits.insert_line_after(analysis.source, statement, line)
        yield Candidate(message("fix.insert", text=line), (edit,))


def _is_renewed(analysis: Analysis, copy: Value, original: Value) -> bool:
    """Whether something may give a copy newer weights, or the network was loaded before it was copied."""
    asked = [call for path in _RENEWS for call in analysis.calls.get(path, ())]
    if any(call.receiver is copy for call in asked) or unseen(analysis, "load_state_dict"):
        return True
    loaded = [call for call in asked if call.path.endswith("load_state_dict") and call.receiver is original]
    states = [given for call in asked for given in call.args if is_object(given, STATE)]
    return bool(loaded) or any(given.args[0] is copy for given in states)


def _bootstraps(analysis: Analysis, loss: Operation, copy: Value, original: Value) -> bool:
    """Whether a loss in a loop compares what one network gives with a discounted sum of what its copy gives."""
    scores, target = (
        (operand(loss, 0, "input"), operand(loss, 1, "target"))
        if loss.name in _LOSSES and repeated(loss, _OFTEN)
        else (None, None)
    )
    if scores is None or target is None:
        return False
    names, modules = _behind(analysis, target.tensor)
    of_copy = modules & {id(part) for part in parts_of(copy)}
    of_original = _behind(analysis, scores.tensor)[1] & {id(part) for part in parts_of(original)}
    return bool(of_copy and of_original) and {"mul", "add"} <= names


def _evaluates(analysis: Analysis, event: Event, copy: Value, original: Value) -> bool:
    """Whether a copy is called without gradients in a loop around the training of the network, and in none of its steps."""
    if event.subject is not copy or event.grad is not False or len(event.loops) < 2:
        return False
    outer, inner = event.loops[0].execution, {loop.execution for loop in event.loops[1:]}
    steps = [one for one in analysis.events("step") if one.loops and one.loops[0].execution == outer]
    trains = [one for one in steps if trained_by(one.subject, original)]
    apart = (len(one.loops) > 1 and not any(loop.execution in inner for loop in one.loops) for one in trains)
    return bool(trains) and all(apart)


def _of_evaluation(analysis: Analysis, made: LibraryCall, evaluation: Event) -> Finding:
    copy, network = _names(analysis, made)
    place = evaluation.site.span.related(message("target.evaluation"))
    return Finding(made.site.span, message("target.evaluated", copy=copy, network=network), (place,))


def _names(analysis: Analysis, made: LibraryCall) -> tuple[str, str]:
    """How a copy and the network are written."""
    call, source, statement = made.site.call, made.site.source, statement_of(analysis, made.site)
    network = source.segment(call.args[0]) if call is not None and call.args else "the network"
    return source.segment(statement.targets[0]) if isinstance(statement, ast.Assign) else "this copy", network


def _behind(analysis: Analysis, tensor: Tensor) -> tuple[set[str], set[int]]:
    """The names of the operations that a tensor is computed by, and the identities of the modules."""
    made = [analysis.operation_of(origin) for origin in ancestry(tensor)]
    return {one.name for one in made if one is not None}, {
        id(one.module) for one in made if one is not None and one.module is not None
    }


def _finding(analysis: Analysis, made: LibraryCall, loss: Operation) -> Finding:
    name, network = _names(analysis, made)
    place = loss.site.span.related(message("target.loss"))
    text = message("target.never", copy=name, network=network)
    return Finding(made.site.span, text, (place,), tuple(_updated(analysis, loss, name, network)))


def _updated(analysis: Analysis, loss: Operation, copy: str, network: str) -> Iterator[Candidate]:
    """The weights copied every so often, behind the step in the loop of a counter."""
    for step in analysis.events("step"):
        statement = statement_of(analysis, step.site)
        path = step.site.span.path
        if statement is None or path != loss.site.span.path or not is_simple(statement, analysis, path):
            continue
        around = analysis.trail(path, statement)
        loop = next(iter(of_kind(around, ast.For)[-1:]), None)
        count = plain_name(loop.target) if loop is not None and is_function_call(loop.iter, "range") else None
        if count is not None:
            source = analysis.source_of(path)
            indent = edits.next_line(source, statement.lineno)
            line = f"{copy}.load_state_dict({network}.state_dict())"
            text = f"if {count} % {_PERIOD} == 0:{indent}    {line}"
            yield Candidate(
                message("fix.insert", text=line), (edits.insert_line_after(source, statement, text),), safe=False
            )
            return


RULE = Rule(FAULTS[CODE], find, of_absence=True)

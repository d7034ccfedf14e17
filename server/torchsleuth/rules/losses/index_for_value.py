"""index-for-value: the number of the best action where its value belongs.

What it finds
    A regression loss between values that `gather()` chose and a target that is computed from the index which `max()` or
    `argmax()` found among as many values.
Why it hurts
    The target is 0, 1, 2 …, whichever stands first in the list of actions, and not what the action is worth. The loss falls,
    and what is learnt has nothing to do with the rewards. Nothing is raised.
Example
    values = network(state).gather(1, action).squeeze(1)
    best = target(next_state).max(1)[1]
    loss = nn.functional.mse_loss(values, reward + 0.99 * best)
Use instead
    values = network(state).gather(1, action).squeeze(1)
    best = target(next_state).max(1)[0]
    loss = nn.functional.mse_loss(values, reward + 0.99 * best)
Fix safety
    Safe: the maximum in the place of its index.
References
    torch.max, torch.gather
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import lineage, operand
from torchsleuth.rules.losses.mse_on_class_indices import LOSSES
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_method_call, literal
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Tensor

CODE = "TS322"
_CHOICES = frozenset({"max", "argmax", "min", "argmin"})
_ARITHMETIC = frozenset(
    "add sub rsub mul neg to float double squeeze unsqueeze view reshape detach flatten where masked_fill".split()
)
_MAX_STEPS = 24


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss in analysis.trace.operations:
        if not loss.target.startswith("torch.nn.") or loss.name not in LOSSES:
            continue
        prediction, target = operand(loss, 0, "input"), operand(loss, 1, "target")
        if prediction is None or target is None:
            continue
        columns = _columns(analysis, prediction.tensor)
        choice = _choice(analysis, target.tensor) if columns is not None else None
        if choice is not None and choice.specs[0].shape == columns and choice.site.span not in seen:
            seen.add(choice.site.span)
            yield _finding(analysis, loss, choice)


def _columns(analysis: Analysis, prediction: Tensor) -> object:
    """The shape of the values that a prediction was chosen from."""
    for _, operation in lineage(analysis, prediction):
        name = operation.name
        if name == "gather":
            raw = bool(operation.operands) and "logits" in operation.operands[0].tags
            return operation.specs[0].shape if raw else None
        if name not in _ARITHMETIC:
            return None
    return None


def _choice(analysis: Analysis, target: Tensor) -> Operation | None:
    """Where the index was found that a target is computed from."""
    pending = [target]
    for _ in range(_MAX_STEPS):
        current = pending.pop() if pending else None
        origin = current.origin if current is not None else None
        if current is None or origin is None:
            continue
        name = origin.bare_name
        if name in _CHOICES and current.spec.dtype == "int64":
            operation = analysis.operation_of(origin)
            raw = operation is not None and operation.operands and "logits" in operation.operands[0].tags
            return operation if raw else None
        if name in _ARITHMETIC:
            pending += origin.sources
    return None


def _finding(analysis: Analysis, loss: Operation, choice: Operation) -> Finding:
    places = (loss.site.span.related(message("index.loss")), *call_trail(choice.site.scene, limit=1))
    text = message("index.value", choice=choice.name, loss=loss.name)
    return Finding(choice.site.span, text, places, _values(analysis, choice))


def _values(analysis: Analysis, choice: Operation) -> Iterator[Candidate]:
    """``max(1)[0]``, ``max(1).values`` or ``amax(1)`` in the place of the index."""
    node = choice.site.node
    source = choice.site.source
    if not is_method_call(node):
        return
    name = choice.name
    if name.startswith("arg"):
        new = f"a{name.removeprefix('arg')}"
        edit = edits.replace(source, node.func, source.segment(node.func).removesuffix(name) + new)
        yield Candidate(message("fix.replace", old=name, new=new), (edit,))
        return
    index = analysis.index(choice.site.span.path)
    same = index.same(node)
    if same is not None:
        yield from _taken(source, index.trail(same))


def _taken(source: SourceText, trail: list[ast.AST]) -> Iterator[Candidate]:
    outer = trail[-2] if len(trail) > 1 else None
    if isinstance(outer, ast.Subscript) and literal(outer.slice) == 1:
        yield Candidate(message("fix.replace", old="[1]", new="[0]"), (edits.replace(source, outer.slice, "0"),))
    elif is_attribute(outer, "indices"):
        whole = source.segment(outer).removesuffix("indices")
        yield Candidate(
            message("fix.replace", old="indices", new="values"), (edits.replace(source, outer, f"{whole}values"),)
        )


RULE = Rule(FAULTS[CODE], find)

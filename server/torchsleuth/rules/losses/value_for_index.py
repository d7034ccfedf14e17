"""value-for-index: the largest scores where the classes that have them belong.

What it finds
    `==` between labels and the values that `max()` gives along a dimension of the scores of a layer: the first of the two
    tensors that it returns, where the second one holds the classes.
Why it hurts
    A score is hardly ever a whole number: the accuracy is zero, whatever the model has learnt. Nothing is raised.
Example
    predicted, _ = torch.max(model(x), 1)
    hits += (predicted == y).sum().item()
Use instead
    _, predicted = torch.max(model(x), 1)
    hits += (predicted == y).sum().item()
Fix safety
    Safe: a score is no label.
References
    torch.max
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.evidence.operands import made_by, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import is_attribute, literal
from torchsleuth.values import Tensor

CODE = "TS331"
_BETWEEN = frozenset("view reshape squeeze unsqueeze detach cpu cuda to flatten contiguous view_as reshape_as".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if operation.name in ("eq", "ne") and len(operation.operands) == 2:
            for scores, labels in (operation.operands, operation.operands[::-1]):
                choice = _choice(analysis, scores) if str(labels.spec.dtype).startswith("int") else None
                if choice is not None and operation.site.span not in seen:
                    seen.add(operation.site.span)
                    yield _finding(analysis, operation, operation.operands.index(scores), choice)


def _choice(analysis: Analysis, scores: Tensor) -> Operation | None:
    """The max() whose values these are, of what a layer puts out."""
    if not str(scores.spec.dtype).startswith(("float", "bfloat")):
        return None
    choice = made_by(analysis, scores, ("max",), _BETWEEN)
    given = choice.operands[0] if choice is not None and choice.operands else None
    along = choice is not None and (len(choice.args) > 1 or "dim" in choice.kwargs)
    return choice if along and given is not None and "logits" in given.tags else None


def _finding(analysis: Analysis, operation: Operation, place: int, choice: Operation) -> Finding:
    text = message("value.index", tensor=expression_text(operand_node(operation, place), "this"))
    places = (choice.site.span.related(message("value.index.max")), *call_trail(operation.site.scene, limit=1))
    return Finding(operation.site.span, text, places, tuple(_indices(analysis, choice)))


def _indices(analysis: Analysis, choice: Operation) -> Iterator[Candidate]:
    """The second of the two tensors in the place of the first one."""
    index = analysis.index(choice.site.span.path)
    node = index.same(choice.site.node)
    outer = index.trail(node)[-2] if node is not None else None
    source = choice.site.source
    if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Tuple) and len(outer.targets[0].elts) == 2:
        one, other = map(source.segment, outer.targets[0].elts)
        yield replaced(choice.site, outer.targets[0], f"{other}, {one}")
    elif isinstance(outer, ast.Subscript) and literal(outer.slice) == 0:
        yield replaced(choice.site, outer.slice, "1")
    elif is_attribute(outer, "values"):
        text = source.segment(outer.value)
        yield replaced(choice.site, outer, f"{text}.indices")


RULE = Rule(FAULTS[CODE], find)

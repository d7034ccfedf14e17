"""nearest-is-itself: a retrieval in which each sample finds itself.

What it finds
    The places of the largest similarities, or the smallest distances, of vectors to themselves, `x @ x.T` or `torch.cdist(x, x)`, that
    pick labels which are compared with the same labels, where the diagonal was not left out.
Why it hurts
    Each vector is nearest to itself, so that the first match is always right: recall and accuracy are 1, whatever the vectors are, or
    count one right match too many. Nothing is raised.
Example
    nearest = (x @ x.T).topk(5, dim=1).indices
    right = labels[nearest] == labels[:, None]
Use instead
    similarity = (x @ x.T).fill_diagonal_(float("-inf"))
    nearest = similarity.topk(5, dim=1).indices
    right = labels[nearest] == labels[:, None]
Fix safety
    Safe: no sample counts as its own match.
References
    Musgrave et al. 2020, "A Metric Learning Reality Check"; torch.Tensor.fill_diagonal_
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.evidence.operands import behind, lineage, operands
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binding, literal, nodes_in
from torchsleuth.values import SliceValue, Tensor, is_int, tuple_of

CODE = "TS359"
_CHOOSING = {"topk": True, "argmax": True, "max": True, "argmin": False, "min": False, "argsort": False, "sort": False}
"""Functions that say where something is, and whether they take the largest unless they are told otherwise."""
_ORDERED = "largest descending".split()
_PRODUCTS = frozenset("matmul mm".split())
_TURNED = frozenset("T t mT transpose".split())
_SHAPED = frozenset("unsqueeze view reshape getitem squeeze to long cpu contiguous detach".split())
_SCALING = frozenset("div truediv mul to float cpu detach contiguous".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for compared in analysis.trace.operations:
        if compared.bare_name not in ("eq", "ne") or len(compared.operands) != 2:
            continue
        for one, other in (compared.operands, compared.operands[::-1]):
            picked = analysis.operation_of(one.origin)
            if picked is None or picked.name != "getitem" or len(picked.operands) != 2:
                continue
            labels, places = picked.operands
            scores = _scores(analysis, places) if behind(analysis, other, _SHAPED) is labels else None
            if scores is not None and scores.site.span not in seen and not _discounts(analysis, compared):
                seen.add(scores.site.span)
                yield _finding(analysis, scores, compared)


def _discounts(analysis: Analysis, compared: Operation) -> bool:
    """Whether one match of each is taken off where they are counted: ``found[:, 1:]``, ``found.sum(1) - 1``."""
    function = compared.site.scene.function
    tree = analysis.tree(compared.site.span.path) if function is None else function.node
    less = (one.right for one in nodes_in(tree, ast.BinOp) if isinstance(one.op, ast.Sub))
    lower = (one.lower for one in nodes_in(tree, ast.Slice) if one.lower is not None)
    return any(literal(one) == 1 for one in (*less, *lower))


def _scores(analysis: Analysis, places: Tensor) -> Operation | None:
    """The operation that scored vectors against themselves, of which these are the places of the best, each itself included."""
    for _, operation in lineage(analysis, places):
        if operation.name in _CHOOSING:
            return _of_themselves(analysis, operation)
        if operation.name == "getitem" and _leaves_out(operation.given(1, "index")) or operation.name not in _SHAPED:
            return None
    return None


def _leaves_out(key: object) -> bool:
    """``[:, 1:]``, and all that is not known"""
    parts = tuple_of(key) if isinstance(key, tuple) else (key,)
    return any(
        not (one is None or isinstance(one, SliceValue) and one.start in (None, 0) or is_int(one) and one == 0)
        for one in parts
    )


def _of_themselves(analysis: Analysis, choice: Operation) -> Operation | None:
    largest = _CHOOSING[choice.name]
    for name in _ORDERED:
        largest = largest if choice.kwargs.get(name) is None else choice.kwargs[name] is True
    for current, operation in lineage(analysis, choice.operands[0]) if choice.operands else ():
        if current.storage.slots.get("version") != 0:
            return None
        if operation.name in _PRODUCTS and len(operation.operands) == 2:
            vectors, turned = operation.operands
            turning = analysis.operation_of(turned.origin)
            same = turning is not None and turning.name in _TURNED and turning.operands[0] is vectors
            return operation if same and largest else None
        if operation.name == "cdist":
            same = len(operation.operands) == 2 and operation.operands[0] is operation.operands[1]
            return operation if same and not largest else None
        if operation.name not in _SCALING or len(operation.operands) != 1:
            return None
    return None


def _finding(analysis: Analysis, scores: Operation, compared: Operation) -> Finding:
    vectors = operands(scores)[0].text("these vectors")
    places = (compared.site.span.related(message("itself.labels")), *call_trail(scores.site.scene, limit=1))
    return Finding(
        scores.site.span, message("itself.nearest", vectors=vectors), places, _without_diagonal(analysis, scores)
    )


def _without_diagonal(analysis: Analysis, scores: Operation) -> Iterator[Candidate]:
    """``similarity.fill_diagonal_(float("-inf"))`` behind where it is computed."""
    statement, source = statement_of(analysis, scores.site), scores.site.source
    value = as_kind(statement, ast.Assign)
    if value is not None and is_binding(value) and value.value is scores.site.node:
        worst = 'float("inf")' if scores.name == "cdist" else 'float("-inf")'
        text = f"{value.targets[0].id}.fill_diagonal_({worst})"
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_after(source, value, text),))


RULE = Rule(FAULTS[CODE], find)

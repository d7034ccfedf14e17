"""mixture-of-two-orders: the samples of a batch are mixed with others than their labels are.

What it finds
    A batch that is added to itself in a random order, with weights, and its labels in another random order: each call of
    torch.randperm gives a new one. Where one order picks both, nothing is said.
Why it hurts
    The mixture of two pictures is learned with the label of a third one. The loss falls, but to where the wrong labels
    leave it; mixing the samples makes the result worse instead of better. Nothing is raised.
Example
    mixed = lam * x + (1 - lam) * x[torch.randperm(len(x))]
    first, second = y, y[torch.randperm(len(x))]
Use instead
    order = torch.randperm(len(x))
    mixed = lam * x + (1 - lam) * x[order]
    first, second = y, y[order]
Fix safety
    Safe: the labels are to be those of the samples.
References
    torch.randperm; torchvision.transforms.v2.MixUp
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import batch_of
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.loaders import free_name
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.evidence.operands import lineage
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import targets_of
from torchsleuth.tensors import dims
from torchsleuth.values import Tensor

CODE = "TS548"
_MOVED = frozenset("to cuda cpu long clone".split())


@dataclass(frozen=True)
class _Picked:
    """`tensor` in the random order `order`, by an operation."""

    tensor: Tensor
    order: Tensor
    operation: Operation

    @property
    def is_labels(self) -> bool:
        integers = self.tensor.spec.dtype in ("int64", "int32")
        return integers or (self.tensor.origin is not None and self.tensor.origin.operator.endswith("one_hot"))


def find(analysis: Analysis) -> Iterator[Finding]:
    orders: dict[int, list[_Picked]] = defaultdict(list)
    for operation in analysis.trace.operations:
        picked = _picked(operation)
        if picked is not None:
            orders[picked.order.identity].append(picked)
    mixed = [all_of for all_of in orders.values() if len(all_of) == 1 and not all_of[0].is_labels]
    labels = [all_of[0] for all_of in orders.values() if all(one.is_labels for one in all_of)]
    seen: set[Span] = set()
    for one in (all_of[0] for all_of in mixed):
        for other in labels:
            span = other.operation.site.span
            if span not in seen and _belong(one, other) and _is_mixed(analysis, one):
                seen.add(span)
                yield _finding(analysis, one, other)


def _picked(operation: Operation) -> _Picked | None:
    """A tensor of a batch that an operation puts into a random order."""
    if operation.name not in ("getitem", "index_select") or len(operation.operands) != 2:
        return None
    tensor, index = operation.operands
    while index.origin is not None and index.origin.sources and index.origin.name in _MOVED:
        index = index.origin.sources[0]
    drawn = index.origin is not None and index.origin.operator == "torch.randperm"
    return _Picked(tensor, index, operation) if drawn and batch_of(tensor) == 0 else None


def _belong(one: _Picked, other: _Picked) -> bool:
    """Whether samples and labels are put into orders in one place, and are as many."""
    sizes = [picked.tensor.spec.shape for picked in (one, other)]
    alike = all(sizes) and dims.equal((sizes[0] or (0,))[0], (sizes[1] or (0,))[0]) is True
    return alike and one.operation.site.scene == other.operation.site.scene


def _is_mixed(analysis: Analysis, one: _Picked) -> bool:
    """Whether a batch in its own order and the same one in the random order, each times something, are added; or whether
    parts of it are pasted into itself."""
    for operation in analysis.trace.operations:
        if operation.name == "add" and len(operation.operands) == 2:
            terms = [_factor(term) for term in operation.operands]
            for plain, moved in (terms, terms[::-1]):
                made = next(iter(lineage(analysis, moved)), None) if moved is not None else None
                if plain is one.tensor and made is not None and made[1] is one.operation:
                    return True
    statement, node = (
        as_kind(statement_of(analysis, one.operation.site), ast.Assign),
        as_kind(one.operation.site.node, ast.Subscript),
    )
    pasted = targets_of(statement) if statement is not None and node is not None else []
    return node is not None and any(
        ast.dump(target.value) == ast.dump(node.value) for target in of_kind(pasted, ast.Subscript)
    )


def _factor(term: Tensor) -> Tensor | None:
    """The factor that a product multiplies, its first factor of more than one dimension."""
    origin = term.origin
    if origin is None or origin.bare_name not in ("mul", "multiply"):
        return None
    shape = term.spec.shape
    return next((source for source in origin.sources if source.spec.shape == shape), None)


def _finding(analysis: Analysis, one: _Picked, other: _Picked) -> Finding:
    here, there = other.operation.site, one.operation.site
    text = message("mixture.orders", labels=here.source.segment(here.node))
    places = (
        there.span.related(message("mixture.samples")),
        *call_trail(here.scene, limit=1),
    )
    return Finding(here.span, text, places, _one_order(analysis, one, other))


def _one_order(analysis: Analysis, one: _Picked, other: _Picked) -> Iterator[Candidate]:
    """The order of the samples for the labels, too; it gets a name where it is drawn in the index itself."""
    first, second = one.operation.site, other.operation.site
    source, path = first.source, first.span.path
    if not isinstance(first.node, ast.Subscript) or not isinstance(second.node, ast.Subscript):
        return
    drawn, wrong = (_first(node.slice) for node in (first.node, second.node))
    if isinstance(drawn, ast.Name):
        yield replacement(source, wrong, drawn.id)
        return
    statement = statement_of(analysis, first)
    if statement is not None and is_simple(statement, analysis, path) and first.node.lineno <= second.node.lineno:
        name = free_name(analysis, path, "order")
        line = edits.insert_line_before(source, statement, f"{name} = {source.segment(drawn)}")
        title = message("fix.insert", text=f"{name} = {source.segment(drawn)}")
        yield Candidate(title, (line, edits.replace(source, drawn, name), edits.replace(source, wrong, name)))


def _first(index: ast.expr) -> ast.expr:
    return index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index


RULE = Rule(FAULTS[CODE], find)

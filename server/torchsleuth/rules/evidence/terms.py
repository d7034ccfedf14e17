"""The terms of a loss, as its graph has them: what is added up, with which numbers before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torchsleuth.interp.trace import Event, Operation
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import as_kind
from torchsleuth.values import Tensor, Value
from torchsleuth.values.graph import GraphNode

KEEPING = frozenset(
    "view reshape flatten squeeze unsqueeze contiguous clone to float double type Flatten Identity expand".split()
)
"""Operators that leave all elements as they are."""
NEVER_NEGATIVE = frozenset(
    "mse_loss MSELoss l1_loss L1Loss smooth_l1_loss SmoothL1Loss huber_loss HuberLoss cross_entropy CrossEntropyLoss "
    "binary_cross_entropy BCELoss binary_cross_entropy_with_logits BCEWithLogitsLoss triplet_margin_loss TripletMarginLoss "
    "ctc_loss CTCLoss hinge_embedding_loss HingeEmbeddingLoss margin_ranking_loss MarginRankingLoss".split()
)
"""Losses that are zero at best."""
REDUCING = frozenset({"mean", "sum"})
_MAX_TERMS = 64


@dataclass(frozen=True)
class Part:
    """A tensor that goes into an operation, with its place in the graph then: None for a leaf and for what has no graph."""

    tensor: Tensor
    node: GraphNode | None

    @property
    def learns(self) -> bool:
        """Whether gradients go into it."""
        return self.node is not None or (self.tensor.parameter and self.tensor.spec.requires_grad is not False)


@dataclass(frozen=True)
class Term:
    """What is added up. `operation`: that made it, None for a leaf. `factor`: the product of the numbers before it, None where one
    of them is not known. `reductions`: means and sums of it, the last one first."""

    part: Part
    operation: Operation | None
    factor: float | None = 1.0
    reductions: tuple[Operation, ...] = ()


def parts_of(operation: Operation) -> list[Part]:
    """The tensors that an operation is given, in order."""
    return [Part(tensor, node) for tensor, node in zip(operation.operands, operation.nodes)]


def terms_of(analysis: Analysis, backward: Event) -> list[Term] | None:
    """The terms of the loss that goes backward, those without gradients left out; None where part of it is not known."""
    if backward.tensor is None or backward.node is None:
        return None
    return terms(analysis, Part(backward.tensor, backward.node))


def terms(analysis: Analysis, loss: Part) -> list[Term] | None:
    """The terms of a sum; a part that is none is the only one."""
    pending, found = [Term(loss, analysis.operation_of(loss.node))], list[Term]()
    while pending:
        term = pending.pop()
        operation, node = term.operation, term.part.node
        if len(found) + len(pending) > _MAX_TERMS or (node is not None and (operation is None or node.open)):
            return None
        summands = None if operation is None else _summands(operation)
        if operation is None or summands is None:
            found.append(term)
            continue
        reductions = (*term.reductions, operation) if operation.bare_name in REDUCING else term.reductions
        for part, factor in summands:
            if part.learns:
                whole = None if term.factor is None or factor is None else term.factor * factor
                inner = analysis.operation_of(part.node)
                pending.append(replace(term, part=part, operation=inner, factor=whole, reductions=reductions))
    return found[::-1]


def _summands(operation: Operation) -> list[tuple[Part, float | None]] | None:
    """What an operation adds up, each with the number before it; None where it is no sum, mean or product with a number."""
    name, given, args = operation.bare_name, parts_of(operation), operation.args
    if name in KEEPING or name in REDUCING or name in ("stack", "cat"):
        return [(part, 1.0) for part in given]
    if name == "neg":
        return [(part, -1.0) for part in given]
    if name in ("add", "iadd", "radd"):
        return [(part, 1.0 if "alpha" not in operation.kwargs else None) for part in given]
    if name in ("sub", "isub", "rsub"):
        first = args[0] if name != "rsub" else args[1:2]
        return [(part, (1.0 if part.tensor is first else -1.0) if len(args) == 2 else None) for part in given]
    if name in ("mul", "imul", "multiply", "div", "idiv", "truediv", "itruediv"):
        return _scaled(operation, given)
    return None


def _scaled(operation: Operation, given: list[Part]) -> list[tuple[Part, float | None]] | None:
    """A product with a number, or a quotient by one."""
    divides = operation.bare_name not in ("mul", "imul", "multiply")
    learning = [part for part in given if part.learns]
    if len(learning) != 1 or len(operation.args) != 2 or (divides and learning[0].tensor is not operation.args[0]):
        return None
    other = next((value for value in operation.args if value is not learning[0].tensor), None)
    number = _number(other)
    return [(learning[0], None if not number else 1 / number if divides else number)]


def _number(value: Value) -> float | None:
    number = as_kind(value, int, float)
    return None if number is None else float(number)

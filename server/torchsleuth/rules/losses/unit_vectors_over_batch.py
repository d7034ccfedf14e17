"""unit-vectors-over-batch: vectors that are normalised along the batch, and then compared with one another.

What it finds
    F.normalize with dim=0 of a matrix whose rows are then multiplied with the rows of another one, or with their own: `z @ z.T`.
Why it hurts
    The products are taken for cosines, but no row has length 1. Each feature is divided by its length over the whole batch: a
    similarity depends on what else is in the batch, and a temperature means something else for every batch size.
Example
    z = F.normalize(z, dim=0)
    logits = z @ z.T / temperature
Use instead
    z = F.normalize(z, dim=1)
    logits = z @ z.T / temperature
Fix safety
    Safe: the product sums over the features, along which the rows are to have length 1.
References
    torch.nn.functional.normalize
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail, shape_text
from torchsleuth.rules.evidence.operands import ancestry, operand, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import argument_of
from torchsleuth.values import Tensor, shape_of

CODE = "TS325"
_NORMALIZE = "torch.nn.functional.normalize"
_PRODUCTS = frozenset("matmul mm".split())
_KEEPS = frozenset("to float contiguous clone detach mul div truediv cat concat chunk split getitem".split())
"""Operators between the vectors and their product that leave rows and columns where they are."""


def find(analysis: Analysis) -> Iterator[Finding]:
    made = [one for one in analysis.trace.operations if one.target == _NORMALIZE and _dim(one) == 0]
    products = [one for one in analysis.trace.operations if made and one.name in _PRODUCTS]
    reported: set[Span] = set()
    for operation in made:
        span, used = operation.site.span, operand(operation, 0, "input")
        product = next((one for one in products if _multiplies_rows(one, operation)), None)
        if product is None or used is None or span in reported:
            continue
        reported.add(span)
        text = message("normalize.batch", tensor=used.text("the input"), shape=shape_text(used.spec))
        places = (
            product.site.span.related(message("normalize.product")),
            *call_trail(operation.site.scene, limit=1),
        )
        yield Finding(span, text, places, tuple(_along_features(operation)))


def _dim(operation: Operation) -> object:
    return operation.given(2, "dim")


def _multiplies_rows(product: Operation, normalize: Operation) -> bool:
    """Whether the left factor is what was normalised, row by row, and the product sums over its columns."""
    left = product.args[0] if product.args else None
    shape = shape_of(left)
    if not isinstance(left, Tensor) or shape is None or len(shape) != 2 or shape[0] == shape[1]:
        return False
    return any(origin.site is normalize.site for origin in ancestry(left, _KEEPS.__contains__))


def _along_features(operation: Operation) -> Iterator[Candidate]:
    call = operation.site.call
    node = argument_of(call, 2, "dim") if call is not None else None
    if node is not None:
        yield replaced(operation.site, node, "1")


RULE = Rule(FAULTS[CODE], find)

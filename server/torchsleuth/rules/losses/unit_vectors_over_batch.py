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
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of
from torchsleuth.tensors.dims import is_index
from torchsleuth.values import Tensor, Value, shape_of

CODE = "TS325"
_NORMALIZE = "torch.nn.functional.normalize"
_PRODUCTS = frozenset("matmul mm".split())
_KEEPS = frozenset("to float contiguous clone detach mul div truediv cat concat chunk split getitem".split())
"""Operators between the vectors and their product that leave rows and columns where they are."""
_OF_ROWS = frozenset({"unbind", "flatten", "reshape", "view", "select"})
"""Those that put the vectors of several dimensions into rows, where these are as long as before."""


def find(analysis: Analysis) -> Iterator[Finding]:
    made = [one for one in analysis.trace.operations if one.target == _NORMALIZE and _is_not_last(one)]
    products = [one for one in analysis.trace.operations if made and one.name in _PRODUCTS]
    reported: set[Span] = set()
    for operation in made:
        span, used = operation.site.span, operand(operation, 0, "input")
        product = next((one for one in products if _multiplies_rows(one, operation)), None)
        if product is None or used is None or span in reported:
            continue
        reported.add(span)
        key = "normalize.batch" if _dim(operation) == 0 else "normalize.other"
        text = message(key, tensor=used.text("the input"), shape=shape_text(used.spec), dim=_dim(operation))
        places = (
            product.site.span.related(message("normalize.product")),
            *call_trail(operation.site.scene, limit=1),
        )
        yield Finding(span, text, places, tuple(_along_features(operation)))


def _dim(operation: Operation) -> Value:
    return operation.given(2, "dim", 1)


def _is_not_last(operation: Operation) -> bool:
    """Whether vectors are normalised along the samples, or along another dimension than the last of three or more."""
    dim, shape = as_kind(_dim(operation), int), shape_of(operation.first)
    if dim is None or shape is None or not is_index(dim, shape):
        return False
    return dim == 0 or len(shape) > 2 and dim % len(shape) < len(shape) - 1


def _multiplies_rows(product: Operation, normalize: Operation) -> bool:
    """Whether the left factor is what was normalised, row by row, and the product sums over its columns."""
    left, whole = product.args[0] if product.args else None, shape_of(normalize.first)
    shape, dim = shape_of(left), as_kind(_dim(normalize), int)
    if not isinstance(left, Tensor) or shape is None or len(shape) != 2 or shape[0] == shape[1] or not whole:
        return False
    if dim is None or len(whole) > 2 and (shape[1] != whole[-1] or whole[dim] == whole[-1]):
        return False
    kept = _KEEPS if len(whole) == 2 else _KEEPS | _OF_ROWS
    return any(origin.site is normalize.site for origin in ancestry(left, kept.__contains__))


def _along_features(operation: Operation) -> Iterator[Candidate]:
    call, shape = operation.site.call, shape_of(operation.first)
    node = argument_of(call, 2, "dim") if call is not None else None
    new = "1" if shape is not None and len(shape) == 2 else "-1"
    if node is not None:
        yield replaced(operation.site, node, new)
    elif call is not None:
        yield Candidate(
            message("fix.add", text=f"dim={new}"), (edits.add_argument(operation.site.source, call, f"dim={new}"),)
        )


RULE = Rule(FAULTS[CODE], find)

"""index-not-expanded: values are scattered by an index that is narrower than they are, and most of them are left out.

What it finds
    `scatter_add_`, `scatter_` and `scatter_reduce_` with an index of size 1 along a dimension along which the values and the result
    have more, other than the one that is scattered along.
Why it hurts
    The index is not broadcast: only as many values are used as it has elements. Of each row of features the first one is
    written, and the others stay what they were. Nothing is raised.
Example
    out = torch.zeros(5, 16)
    out.scatter_add_(0, torch.tensor([[0], [3], [3]]), torch.randn(3, 16))
Use instead
    out = torch.zeros(5, 16)
    values = torch.randn(3, 16)
    out.scatter_add_(0, torch.tensor([[0], [3], [3]]).expand_as(values), values)
Fix safety
    Safe: every value goes where the first one of its row goes.
References
    torch.Tensor.scatter_add_
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, operand, suffixed, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import is_reference
from torchsleuth.tensors.dims import is_number

CODE = "TS122"
_SCATTERS = frozenset("scatter scatter_add scatter_reduce".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for scatter in analysis.trace.operations:
        if scatter.bare_name not in _SCATTERS or scatter.site.span in seen:
            continue
        index, values = operand(scatter, 2, "index"), operand(scatter, 3, "src")
        narrow = _narrow(scatter, index, values) if index is not None and values is not None else None
        if index is not None and values is not None and narrow is not None:
            seen.add(scatter.site.span)
            text = message(
                "index.narrow", index=index.described("the index"), values=values.described("the values"), axis=narrow
            )
            at = index.site.source.span(index.node) if index.node is not None else scatter.site.span
            yield Finding(at, text, tuple(call_trail(scatter.site.scene, limit=1)), tuple(_expanded(index, values)))


def _narrow(scatter: Operation, index: Operand, values: Operand) -> int | None:
    """The dimension, other than the one scattered along, where the index has size 1 and the values and the result have more."""
    whole, dim = scatter.specs[0].shape, scatter.given(1, "dim")
    shapes = whole, index.spec.shape, values.spec.shape
    if not is_number(dim) or None in shapes or len({len(shape or ()) for shape in shapes}) != 1:
        return None
    for axis, (have, one, given) in enumerate(zip(*(shape or () for shape in shapes))):
        wide = have == given and (not isinstance(given, int) or given > 1)
        if axis != dim % len(whole or ()) and one == 1 and wide:
            return axis
    return None


def _expanded(index: Operand, values: Operand) -> Iterator[Candidate]:
    if values.node is not None and is_reference(values.node):
        yield from suffixed(index, f".expand_as({written(values.site.source, values.node)})")


RULE = Rule(FAULTS[CODE], find)

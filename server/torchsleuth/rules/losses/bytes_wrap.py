"""bytes-wrap: differences of bytes, which begin anew at 255 below 0.

What it finds
    A difference of uint8 tensors, or of one and a number, that is made to floats, or taken the absolute value of, only then.
Why it hurts
    uint8 has no numbers below 0: 100 - 128 is 228. Nothing is raised, and dark pixels become the brightest.
Example
    image = (image - 128).float() / 64
Use instead
    image = (image.float() - 128) / 64
Fix safety
    Safe: the operand becomes floats before the difference, and what is done to the result afterwards stays.
References
    torch.Tensor.to
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, appended
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.tensors.dims import is_number
from torchsleuth.tensors.spec import DType
from torchsleuth.values import Tensor

CODE = "TS345"
_MEANS_NUMBERS = frozenset("float double half abs pow square div true_divide truediv".split())
"""What is done to differences that are meant to be numbers of any sign."""


def find(analysis: Analysis) -> Iterator[Finding]:
    differences: dict[int, Operation] = {}
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        for operand in operation.operands:
            made = analysis.operation_of(operand.origin)
            new = made is not None and made.site.span not in seen
            if made is not None and new and id(made.site) in differences and _to_numbers(operation):
                seen.add(made.site.span)
                yield _finding(made)
        if _wraps(operation):
            differences[id(operation.site)] = operation


def _wraps(operation: Operation) -> bool:
    """Whether a difference is one of bytes, of which the first is not known to be the larger one."""
    if operation.bare_name not in ("sub", "subtract") or len(operation.args) != 2 or not operation.specs:
        return False
    one, other = operation.args
    bytes_only = all(spec.dtype == "uint8" for spec in operation.specs)
    larger = is_number(other) and not isinstance(other, bool) and other > 0
    return bytes_only and isinstance(one, Tensor) and (isinstance(other, Tensor) or larger)


def _to_numbers(operation: Operation) -> bool:
    """Whether what is done to a difference makes floats of it, or takes its size."""
    if operation.bare_name not in ("to", "type"):
        return operation.bare_name in _MEANS_NUMBERS
    given = of_kind((*operation.args, *operation.kwargs.values()), DType)
    return any(one.name.startswith(("float", "bfloat", "half", "double")) for one in given)


def _finding(operation: Operation) -> Finding:
    source, node = operation.site.source, operation.site.node
    text = message("bytes.wrap", expression=f"`{source.segment(node)}`")
    fixes: tuple[Candidate, ...] = ()
    if isinstance(node, ast.BinOp):
        fixes = (appended(source, node.left, ".float()"),)
    return Finding(operation.site.span, text, tuple(call_trail(operation.site.scene, limit=1)), fixes)


RULE = Rule(FAULTS[CODE], find)

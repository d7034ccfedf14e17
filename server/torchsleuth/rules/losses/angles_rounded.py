"""angles-rounded: sines of positions that are kept in 16 bits.

What it finds
    `sin()` or `cos()` of angles in bfloat16 or float16 that are computed from an `arange` so long that the type has no numbers between its
    last integers: mostly since autocast has a product of positions and frequencies, as a matrix product or an einsum, made in 16 bits.
Why it hurts
    Bfloat16 has 8 significant bits: beyond 256 it goes on in steps of 2, beyond 512 in steps of 4. Positions that are rounded to the same
    angle cannot be told apart, and the others are turned by some other angle. Nothing is raised; long sequences are learned badly.
Example
    with torch.autocast("cuda", dtype=torch.bfloat16):
        angles = positions[:, None] @ frequencies[None, :]
        cos, sin = angles.cos(), angles.sin()
Use instead
        angles = positions[:, None] * frequencies[None, :]
Fix safety
    Unsafe: the angles are computed in float32, which results depend on.
References
    torch.autocast, "CUDA Ops that can autocast to float16"; Su et al., "RoFormer" (2021)
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.evidence.operands import operand
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_binary, literal
from torchsleuth.values import Origin, Tensor

CODE = "TS357"
_BITS = {"bfloat16": 8, "float16": 11}
"""The significant bits of the types with 16."""
_DEPTH = 16


def find(analysis: Analysis) -> Iterator[Finding]:
    told: set[Span] = set()
    for operation in analysis.trace.operations:
        angles = operand(operation, 0, "input") if operation.bare_name in ("sin", "cos") else None
        dtype = angles.spec.dtype if angles is not None else None
        if angles is None or dtype not in _BITS:
            continue
        positions, made = _positions(angles.tensor), _rounded_by(angles.tensor)
        count = positions.spec.shape[0] if positions is not None and positions.spec.shape else None
        if positions is None or positions.origin is None or made is None or not isinstance(count, int) or count < 2:
            continue
        step = 2 ** (math.floor(math.log2(count - 1)) - _BITS[dtype] + 1)
        if step <= 1 or made.site.span in told:
            continue
        told.add(made.site.span)
        text = message("angles.rounded", count=count, dtype=dtype, step=step)
        places = (
            positions.origin.site.span.related(message("angles.positions", count=count)),
            operation.site.span.related(message("angles.used")),
        )
        yield Finding(made.site.span, text, places, tuple(_exact(analysis, made, operation)))


def _positions(tensor: Tensor, depth: int = _DEPTH) -> Tensor | None:
    """The longest `arange` that a tensor is computed from."""
    origin = tensor.origin
    if origin is None or not depth:
        return None
    if origin.operator == "torch.arange":
        return tensor
    found = [one for source in origin.sources if (one := _positions(source, depth - 1)) is not None]
    return max(found, key=_length, default=None)


def _length(tensor: Tensor) -> int:
    size = tensor.spec.shape[0] if tensor.spec.shape else None
    return size if isinstance(size, int) else 0


def _rounded_by(tensor: Tensor) -> Origin | None:
    """The operation that has made a tensor of 16 bits of longer ones."""
    for _ in range(_DEPTH):
        origin = tensor.origin
        if origin is None or not origin.sources:
            return None
        short = [source for source in origin.sources if source.spec.dtype in _BITS]
        if not short:
            return origin if all(source.spec.dtype is not None for source in origin.sources) else None
        tensor = short[0]
    return None


def _exact(analysis: Analysis, made: Origin, operation: Operation) -> Iterator[Candidate]:
    """The same product, element by element: autocast leaves that in float32."""
    node, source = made.site.node, made.site.source
    sizes = [one.shape for one in made.inputs]
    new, imports = "", tuple[Edit, ...]()
    match node:
        case ast.BinOp() if is_binary(node, ast.MatMult) and len(sizes) == 2 and sizes[0] and sizes[0][-1] == 1:
            new = f"{source.segment(node.left)} * {source.segment(node.right)}"
        case ast.Call() if (
            called(node) == "einsum" and len(node.args) == 3 and [len(one or ()) for one in sizes] == [1, 1]
        ):
            pattern = str(literal(node.args[0])).replace(" ", "")
            left, _, rest = pattern.partition(",")
            right, _, result = rest.partition("->")
            outer, imports = spelled(analysis, source.path, "torch.outer")
            ordered = node.args[1:] if result == left + right else node.args[:0:-1] if result == right + left else []
            new = f"{outer}({', '.join(map(source.segment, ordered))})" if ordered else ""
    if new:
        title = message("fix.replace", old=source.segment(node), new=new)
        yield Candidate(title, (*imports, edits.replace(source, node, new)), safe=False)


RULE = Rule(FAULTS[CODE], find)

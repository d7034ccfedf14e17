"""positions-along-batch: a table of positions that is cut to the number of samples, and added along them.

What it finds
    `x + table[: x.size(0)]` with samples in dimension 0 of `x` and a table of a row each, `(positions, 1, features)`: the form
    for sequences that have their steps in dimension 0.
Why it hurts
    The first sample of a batch gets the first position at each of its steps, the second one the second. The order within a
    sequence is not told to the network, and what is predicted for a sample depends on its place in the batch. Nothing is raised.
Example
    for (x,) in DataLoader(TensorDataset(torch.randn(32, 20, 16)), batch_size=8):
        x = x + torch.randn(100, 1, 16)[: x.size(0)]
Use instead
    for (x,) in DataLoader(TensorDataset(torch.randn(32, 20, 16)), batch_size=8):
        x = x + torch.randn(100, 1, 16)[: x.size(1)].transpose(0, 1)
Fix safety
    Safe: each step gets the position that it has.
References
    torch.nn.TransformerEncoderLayer, `batch_first`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import batch_of
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, operands
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_method_call
from torchsleuth.synthesis.shapes import same

CODE = "TS121"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        pair = operands(operation) if operation.bare_name in ("add", "iadd") else []
        for used, table in (pair, pair[::-1]) if len(pair) == 2 else ():
            cut = _cut(table)
            if cut is not None and _is_along_samples(used, table) and operation.site.span not in seen:
                seen.add(operation.site.span)
                text = message("positions.batch", table=table.text("the table"), used=used.text("the input"))
                places = tuple(call_trail(operation.site.scene, limit=1))
                yield Finding(operation.site.span, text, places, _along_steps(operation, cut))


def _cut(table: Operand) -> ast.Subscript | None:
    """``table[:n]`` as it is written, if its length is computed, and it comes from no batch."""
    origin, node = table.tensor.origin, as_kind(table.node, ast.Subscript)
    if origin is None or not origin.operator.endswith("getitem") or node is None:
        return None
    part = as_kind(_rows(node), ast.Slice)
    computed = part is not None and part.lower is None and part.upper is not None and part.step is None
    return node if computed and batch_of(table.tensor) is None and len(origin.sources) == 1 else None


def _rows(cut: ast.Subscript) -> ast.expr:
    """The expression that stands for dimension 0."""
    return cut.slice.elts[0] if isinstance(cut.slice, ast.Tuple) and cut.slice.elts else cut.slice


def _is_along_samples(used: Operand, table: Operand) -> bool:
    """Whether each sample gets a row of the table, at all of its steps."""
    shape, rows = used.shape, table.shape
    if len(shape) != 3 or len(rows) != 3 or batch_of(used.tensor) != 0:
        return False
    several = shape[0] != 1 and shape[1] != 1 and rows[1] == 1
    return several and same(rows[0], shape[0]) and same(rows[2], shape[2])


def _along_steps(operation: Operation, cut: ast.Subscript) -> Iterator[Candidate]:
    """``table[: x.size(1)].transpose(0, 1)``"""
    source = operation.site.source
    rows = as_kind(_rows(cut), ast.Slice)
    upper = rows.upper if rows is not None else None
    place: ast.expr | None = None
    if is_method_call(upper, "size") and upper.args:
        place = upper.args[0]
    elif isinstance(upper, ast.Subscript) and is_attribute(upper.value, "shape"):
        place = upper.slice
    if isinstance(place, ast.Constant) and place.value == 0:
        changes = (
            edits.replace(source, place, "1"),
            edits.insert(source, source.end_of(cut), ".transpose(0, 1)"),
        )
        yield Candidate(message("fix.replace", old="size(0)", new="size(1), transposed"), changes)


RULE = Rule(FAULTS[CODE], find)

"""edges-not-offset: graphs are put together in one batch, and the edges of all of them still count from the first node.

What it finds
    A batch that puts the rows of several samples below each other, `torch.cat([g.x for g in graphs])`, and their pairs of
    indices side by side, `torch.cat([g.edge_index for g in graphs], dim=1)`, as they are, where the indices then pick rows of what
    was computed from the first.
Why it hurts
    The edges of every graph connect the nodes of the first ones; the nodes of the others get no messages. All indices are in
    range, and nothing is raised.
Example
    for g in graphs:
        xs.append(g.x)
        edges.append(g.edge_index)
    x, edge_index = torch.cat(xs), torch.cat(edges, dim=1)
    src, dst = edge_index
    messages = x[src]
Use instead
    offset = 0
    for g in graphs:
        xs.append(g.x)
        edges.append(g.edge_index + offset)
        offset += g.x.shape[0]
Fix safety
    Safe: each index is moved by the number of rows above those of its sample.
References
    PyTorch Geometric, "Advanced Mini-Batching"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import behind, lineage
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, plain_name
from torchsleuth.syntax.text import SourceText
from torchsleuth.synthesis.shapes import same
from torchsleuth.values import Tensor

CODE = "TS640"
_BY_INDEX = frozenset("getitem index_select index_add index_add_ scatter_add scatter_add_ gather".split())
"""Operators whose first tensor has the rows that their second one picks."""
_AS_THEY_ARE = frozenset("getitem select unbind t transpose to long contiguous cpu cuda".split())
_DTYPES = ("int64", "int32")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if operation.name not in _BY_INDEX or len(operation.operands) < 2 or operation.specs[1].dtype not in _DTYPES:
            continue
        pairs = _joined_pairs(analysis, operation.operands[1])
        rows = None if pairs is None else _joined_rows(analysis, operation.operands[0], pairs)
        if pairs is not None and rows is not None and pairs.site.span not in seen:
            seen.add(pairs.site.span)
            yield _finding(analysis, pairs, rows, operation)


def _joined_pairs(analysis: Analysis, index: Tensor) -> Operation | None:
    """The operation that puts pairs of indices side by side, of which an index is a part as it is."""
    whole = behind(analysis, index, _AS_THEY_ARE)
    joins = analysis.operation_of(whole.origin)
    shape = whole.spec.shape
    if (
        joins is None
        or joins.name != "cat"
        or shape is None
        or len(shape) != 2
        or 2 not in shape
        or _axis(joins) is None
    ):
        return None
    return joins if shape[_axis(joins) or 0] != 2 and not _is_made_here(joins) else None


def _axis(joins: Operation) -> int | None:
    axis = joins.given(1, "dim")
    axis = 0 if axis is None else axis
    return axis % 2 if isinstance(axis, int) else None


def _is_made_here(joins: Operation) -> bool:
    """Whether one of the parts is computed by the function that puts them together: it may be moved there."""
    function = joins.site.frame.function
    parts = [part.origin for part in joins.operands]
    return not parts or any(part is None or part.site.frame.function is function for part in parts)


def _joined_rows(analysis: Analysis, rows: Tensor, pairs: Operation) -> Operation | None:
    """The operation of the same function that puts the rows below each other which a tensor has been computed from, row by row."""
    count = rows.spec.shape[0] if rows.spec.shape else None
    for current, operation in lineage(analysis, rows):
        shape = current.spec.shape
        if count is None or not shape or not same(shape[0], count):
            return None
        if operation.name == "cat" and operation.site.frame.function is pairs.site.frame.function:
            single = any(part.spec.shape is None or part.spec.shape[:1] == (1,) for part in operation.operands)
            return None if operation.given(1, "dim") not in (None, 0) or single or not operation.operands else operation
    return None


def _finding(analysis: Analysis, pairs: Operation, rows: Operation, used: Operation) -> Finding:
    source = pairs.site.source
    text = message("edges.counted", rows=source.segment(rows.site.node))
    places = (
        used.site.span.related(message("edges.used")),
        rows.site.span.related(message("edges.rows")),
    )
    return Finding(pairs.site.span, text, places, tuple(_moved(analysis, source, pairs, rows)))


def _moved(analysis: Analysis, source: SourceText, pairs: Operation, rows: Operation) -> Iterator[Candidate]:
    """Each index moved by the number of rows above, where one loop collects both."""
    trees = analysis.index(source.path)
    edges, nodes = (_collected(analysis, source, one) for one in (pairs, rows))
    if edges is None or nodes is None:
        return
    loops = [
        next((one for one in reversed(trees.trail(part)) if isinstance(one, ast.For)), None) for part in (edges, nodes)
    ]
    loop = loops[0]
    if (
        loop is None
        or loops[1] is not loop
        or not all(any(part is one.value for one in loop.body if isinstance(one, ast.Expr)) for part in (edges, nodes))
    ):
        return
    given, count = edges.args[0], source.segment(nodes.args[0])
    last = loop.body[-1]
    changes = (
        edits.insert_line_before(source, loop, "offset = 0"),
        edits.replace(source, given, f"{source.segment(given)} + offset"),
        edits.insert_line_after(source, last, f"offset += {count}.shape[0]"),
    )
    yield Candidate(message("fix.append", expression=source.segment(given), suffix=" + offset"), changes)


def _collected(analysis: Analysis, source: SourceText, joins: Operation) -> ast.Call | None:
    """The one call that puts parts into the list that is joined."""
    call = joins.site.call
    name = plain_name(call.args[0]) if call is not None and call.args else None
    calls = [
        one
        for one in analysis.index(source.path).of_type(ast.Call)
        if name is not None
        and is_method_call(one, "append")
        and plain_name(one.func.value) == name
        and len(one.args) == 1
    ]
    function = joins.site.frame.function
    inside = None if function is None else analysis.index(source.path).same(function.node)
    calls = [one for one in calls if inside is None or any(part is inside for part in analysis.trail(source.path, one))]
    return as_kind(calls[0], ast.Call) if len(calls) == 1 else None


RULE = Rule(FAULTS[CODE], find)

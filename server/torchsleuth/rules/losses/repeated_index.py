"""repeated-index: something is added to the rows that an index names, and rows that it names several times get one of them.

What it finds
    `rows[index] += values` where the index certainly, or as good as certainly, names a row twice: it has more elements than there
    are rows, its elements are drawn independently, or it is one end of the edges whose other end the values were read from,
    and the rows were all zero before.
Why it hurts
    PyTorch reads the rows, adds, and writes them back: of several values for one row the last one written remains, and the others
    are lost. Counts are too low, messages of neighbours are dropped. Nothing is raised.
Example
    counts = torch.zeros(10)
    counts[torch.randint(0, 10, (64,))] += 1
Use instead
    counts = torch.zeros(10)
    counts += torch.bincount(torch.randint(0, 10, (64,)), minlength=10)
Fix safety
    Safe: what is added is added for each element of the index.
References
    torch.Tensor.index_add_, torch.Tensor.index_put_ (accumulate), torch.bincount
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from math import prod

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Related, Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import is_name, literal
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Bounds, Tensor, Value, shape_of

CODE = "TS361"
_ADDS = {"__iadd__": "", "__isub__": ", alpha=-1"}
_ZEROS = frozenset(("zeros", "new_zeros", "zeros_like"))
_READS = frozenset(("getitem", "index_select"))
_INTEGERS = frozenset(("int64", "int32"))
_CERTAIN = 3
"""So many pairs of elements have to be alike on average: all k elements then differ with a probability of about exp(-3)."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for added in analysis.trace.operations:
        if added.name not in _ADDS or added.site.span in seen or not added.args:
            continue
        statement = as_kind(added.site.node, ast.AugAssign)
        part = as_kind(added.args[0], Tensor)
        read = analysis.operation_of(part.origin) if part is not None else None
        if (
            statement is None
            or not isinstance(statement.target, ast.Subscript)
            or read is None
            or read.name != "getitem"
        ):
            continue
        index = _Index.of(read)
        reason = _reason(analysis, added, read, index) if index is not None else None
        if index is not None and reason is not None:
            seen.add(added.site.span)
            yield _finding(analysis, added, statement, statement.target, index, reason)


class _Index:
    """The tensors of integers that a subscript is made of, the number of places that they can name together, and whether the
    subscript is a single one of them. `count`: of the elements that they name; None where that is not known."""

    def __init__(self, tensors: list[Tensor], places: Sequence[object], single: bool) -> None:
        self.tensors = tensors
        self.single = single
        shapes = {tensor.spec.shape for tensor in tensors}
        shape = shapes.pop() if len(shapes) == 1 else None
        sizes = of_kind(shape or (), int)
        self.count = prod(sizes) if shape is not None and len(sizes) == len(shape) else None
        widths = [_width(tensor, size) for tensor, size in zip(tensors, places)]
        self.places = prod(width for width in widths if width is not None) if None not in widths else None

    @classmethod
    def of(cls, read: Operation) -> _Index | None:
        rows, key = read.args
        keys: tuple[Value, ...] = key if isinstance(key, tuple) else (key,)
        tensors = of_kind(keys, Tensor)
        sizes = read.specs[0].shape if read.specs else None
        if not isinstance(rows, Tensor) or not tensors or any(map(_is_no_index, tensors)):
            return None
        if any(one is None or one is Ellipsis or isinstance(one, bool) for one in keys):
            return None
        places = [sizes[axis] if sizes is not None and axis < len(sizes) else None for axis, one in enumerate(keys)
                  if isinstance(one, Tensor)]  # fmt: skip
        return cls(tensors, places, len(keys) == 1)


def _is_no_index(tensor: Tensor) -> bool:
    return not tensor.spec.shape or tensor.spec.dtype not in _INTEGERS


def _width(index: Tensor, size: object) -> int | None:
    """How many different numbers an index can hold: fewer than there are rows, where its bounds are known."""
    bounds = next(iter(of_kind(index.tags, Bounds)), None)
    if bounds is not None:
        return bounds.high - bounds.low + 1
    return size if isinstance(size, int) else None


def _reason(analysis: Analysis, added: Operation, read: Operation, index: _Index) -> str | None:
    """Why the index names a row twice, in the words of the catalogue."""
    if index.count is not None and index.places is not None and index.count > index.places:
        return message("repeated.more", count=index.count, places=index.places)
    drawn = [next((one for one in of_kind(tensor.tags, Bounds) if one.anywhere), None) for tensor in index.tensors]
    if None not in drawn and index.count is not None and index.places is not None:
        pairs = index.count * (index.count - 1) / 2
        if all(_is_drawn(analysis, tensor) for tensor in index.tensors) and pairs >= _CERTAIN * index.places:
            return message("repeated.drawn", count=index.count, places=index.places)
    if index.single and _fills_zeros(analysis, added, read) and _is_end_of_edges(analysis, index.tensors[0]):
        return message("repeated.edges")
    return None


def _is_drawn(analysis: Analysis, tensor: Tensor) -> bool:
    made = analysis.operation_of(tensor.origin)
    return made is not None and made.name == "randint"


def _fills_zeros(analysis: Analysis, added: Operation, read: Operation) -> bool:
    """Whether all is zero before: what is added need not be added then, unless some rows are named again."""
    rows = as_kind(read.args[0], Tensor)
    made = analysis.operation_of(rows.origin) if rows is not None else None
    if made is None or made.name not in _ZEROS or made.loops != added.loops:
        return False
    statement, function = added.site.node, added.site.frame.function
    target = (
        statement.target.value
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript)
        else None
    )
    if not isinstance(target, ast.Name):
        return False
    scope = analysis.tree(added.site.span.path) if function is None else function.node
    written = [one for one in ast.walk(scope) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    return sum(is_name(one.value, target.id) for one in written) == 1


def _is_end_of_edges(analysis: Analysis, index: Tensor) -> bool:
    """Whether something is read by another row of the tensor that the index is a row of: ``h[edges[0]]`` beside ``edges[1]``."""
    made = analysis.operation_of(index.origin)
    if made is None or not _is_row(made):
        return False
    for read in analysis.trace.operations:
        given = of_kind(read.args[1:], Tensor) if read.name in _READS else []
        for other in given:
            beside = analysis.operation_of(other.origin)
            if other is not index and beside is not None and _is_row(beside) and beside.args[0] is made.args[0]:
                if beside is made or beside.args[1] != made.args[1]:
                    return True
    return False


def _is_row(read: Operation) -> bool:
    """Whether an operation reads one of two rows: ``edges[1]``, or one of ``source, target = edges``."""
    shape = read.specs[0].shape if read.specs else None
    return (
        read.name == "getitem"
        and len(read.args) == 2
        and is_number(read.args[1])
        and shape is not None
        and shape[:1] == (2,)
    )


def _finding(
    analysis: Analysis, added: Operation, statement: ast.AugAssign, target: ast.Subscript, index: _Index, reason: str
) -> Finding:
    source = added.site.source
    text = message("repeated.index", text=source.on_one_line(statement), reason=reason)
    related: list[Related] = call_trail(added.site.scene, limit=1)
    return Finding(added.site.span, text, tuple(related), tuple(_accumulated(added, statement, target, index)))


def _accumulated(
    added: Operation, statement: ast.AugAssign, target: ast.Subscript, index: _Index
) -> Iterator[Candidate]:
    """Each value added, in place of the last one written."""
    source = added.site.source
    rows, key, value = (source.segment(one) for one in (target.value, target.slice, statement.value))
    part, given = added.args[0], added.args[1]
    dtype = part.spec.dtype if isinstance(part, Tensor) else None
    named = index.tensors[0].spec.shape or ()
    if isinstance(part, Tensor) and isinstance(given, Tensor) and given.spec.dtype == dtype:
        if index.single and given.spec.shape == part.spec.shape and len(named) == 1:
            yield replacement(source, statement, f"{rows}.index_add_(0, {key}, {value}{_ADDS[added.name]})")
            return
        value = f"-({value})" if added.name == "__isub__" else value
    elif is_number(given) and dtype is not None:
        if given == 1 and index.single and len(named) == 1 and shape_of(part) == named:
            sign = "-" if added.name == "__isub__" else "+"
            yield replacement(source, statement, f"{rows} {sign}= torch.bincount({key}, minlength=len({rows}))")
            return
        sign = "-" if added.name == "__isub__" else ""
        value = f"torch.tensor({sign}{value}, dtype={rows}.dtype, device={rows}.device)"
    else:
        return
    keys = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    written = [
        f"torch.tensor({literal(one)})" if isinstance(literal(one), int) else source.segment(one) for one in keys
    ]
    if not any(isinstance(one, ast.Slice) for one in keys):
        tensors = f"({', '.join(written)}{',' if len(written) == 1 else ''})"
        yield replacement(source, statement, f"{rows}.index_put_({tensors}, {value}, accumulate=True)")


RULE = Rule(FAULTS[CODE], find)

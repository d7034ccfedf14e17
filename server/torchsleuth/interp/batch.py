"""Following the dimension along which a loader has stacked its samples, through the operators that keep it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import any_are, as_kind, first_of
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import LibraryObject, ListValue, SliceValue, Tags, Tensor, Value, items_of, tuple_of


@dataclass(frozen=True)
class Batch:
    """A tag: this dimension of the tensor is that of the samples of a batch."""

    axis: int


@dataclass(frozen=True)
class Rows:
    """A tag: along this dimension, the samples of a loader stand in the random order of one of its passes. `number`: which
    pass; each draws another order."""

    loader: LibraryObject
    number: int
    axis: int


_JOINS = frozenset("cat concat concatenate vstack row_stack".split())
_LOST = frozenset("flip roll sort argsort cumsum cumprod outer tensordot kron rot90 scatter index_select".split())
"""Operators whose result may have the shape of the input and still other samples, or that are not followed."""
_REDUCTIONS = frozenset(
    "sum mean max min argmax argmin prod std var norm any all median amax amin logsumexp nansum nanmean".split()
)
_RECURRENT = ("RNN", "LSTM", "GRU")


def batch_of(tensor: Tensor) -> int | None:
    """The dimension of the samples, None where it is not known."""
    for tag in tensor.tags:
        if type(tag) is Batch:
            return tag.axis
    return None


def rows_of(tensor: Tensor) -> Rows | None:
    """In which order of a pass over a loader the rows of a tensor are, None where that is not known."""
    return first_of(tensor.tags, Rows)


def plain(tags: Tags) -> Tags:
    """The tags of the values, without those of dimensions."""
    return frozenset(tag for tag in tags if not isinstance(tag, Batch | Rows))


def ordered(operation: Operation, tensors: Sequence[Tensor], shape: tuple[Size, ...] | None, position: int) -> Tags:
    """The order of the rows of a result of an operation, if all operands with an order have the same."""
    orders = {(rows.loader, rows.number) for tensor in tensors if (rows := rows_of(tensor)) is not None}
    if len(orders) != 1 or shape is None:
        return frozenset()
    tensor = next(one for one in tensors if rows_of(one) is not None)
    rows, before = (
        rows_of(tensor),
        next((spec.shape for spec, one in zip(operation.specs, tensors) if one is tensor), None),
    )
    if rows is None or before is None:
        return frozenset()
    name = operation.name
    dim = operation.given(1, "dim", 0)
    joined = name in _JOINS and rows.axis == dim == 0
    whole = all((other := rows_of(one)) is not None and other.axis == 0 for one in tensors)
    axis = (0 if whole else None) if joined else follow(operation, rows.axis, before, shape, position)
    return frozenset() if axis is None else frozenset({replace(rows, axis=axis)})


def after(operation: Operation, tensors: Sequence[Tensor], shape: tuple[Size, ...] | None, position: int) -> int | None:
    """The dimension of the samples in a result of an operation; `position`: which of its results."""
    if shape is None:
        return None
    tensor = next((one for one in tensors if batch_of(one) is not None), None)
    axis = None if tensor is None else batch_of(tensor)
    if axis is None:
        return 0 if _drawn(operation) else None
    before = next((spec.shape for spec, one in zip(operation.specs, tensors) if one is tensor), None)
    return None if before is None else follow(operation, axis, before, shape, position)


def _drawn(operation: Operation) -> bool:
    """Whether rows are picked at random, as by ``x[torch.randint(len(x), (64,))]``: the samples of a batch made by hand. More of them
    than there are rows, as by ``centres[y]``, are data that are made of labels."""
    key = as_kind(operation.given(1, "index"), Tensor) if operation.name == "getitem" else None
    sizes = [spec.shape[0] for spec in operation.specs[:2] if spec.shape]
    if len(sizes) == 2 and isinstance(sizes[0], int) and isinstance(sizes[1], int) and sizes[1] > sizes[0]:
        return False
    while key is not None and key.spec.rank == 1 and key.origin is not None:
        if key.origin.operator in _DRAWING:
            return True
        sources = key.origin.sources if key.origin.name in _KEEPING else ()
        key = sources[0] if len(sources) == 1 else None
    return False


_DRAWING = frozenset({"torch.randint", "torch.randperm"})
_KEEPING = frozenset({"getitem", "to", "long", "cuda", "cpu"})


def follow(
    operation: Operation, axis: int, before: tuple[Size, ...], shape: tuple[Size, ...], position: int
) -> int | None:
    """Where an operation leaves a dimension of an operand of shape `before` in a result of this shape."""
    if not 0 <= axis < len(before):
        return None
    name = operation.bare_name
    module = operation.module
    if module is not None and module.type_name.startswith(_RECURRENT):
        return _recurrent(operation, axis, before, position)
    if name in _LOST:
        return None
    if name in ("embedding", "Embedding", "one_hot"):
        return axis  # what an index stands for comes behind all other dimensions
    if name == "einsum":
        return _summed(operation, axis, before)
    given = operation.args[1:]
    move = _MOVES.get(name)
    moved = None if move is None else move(_Move(axis, before, shape, given, operation.kwargs))
    if moved is not None:
        return moved if moved >= 0 else None
    if len(shape) == len(before) and axis < len(shape) and shape[axis] == before[axis]:
        return axis
    if operation.target.startswith("operator.") or name in ("add", "sub", "mul", "div", "where", "matmul", "bmm"):
        shifted = axis + len(shape) - len(before)
        return shifted if 0 <= shifted < len(shape) and shape[shifted] == before[axis] else None
    return axis if axis == 0 and shape and shape[0] == before[0] else None


def _summed(operation: Operation, axis: int, before: tuple[Size, ...]) -> int | None:
    """Where the letter of a dimension stands in the result of an equation."""
    equation = as_kind(operation.first, str)
    if equation is None or "." in equation or "->" not in equation:
        return None
    inputs, _, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operation.specs):
        return None
    letters = {term[axis] for term, spec in zip(terms, operation.specs) if spec.shape == before and axis < len(term)}
    letter = letters.pop() if len(letters) == 1 else ""
    return output.index(letter) if letter and letter in output else None


def _recurrent(operation: Operation, axis: int, before: tuple[Size, ...], position: int) -> int | None:
    """Outputs have the samples where the input has them; hidden states have them in dimension 1."""
    module = operation.module
    first = module is not None and module.kwargs.get("batch_first") is True
    if len(before) != 3:
        return axis if position == 0 else None
    if position == 0:
        return axis
    return 1 if axis == (0 if first else 1) else None


@dataclass(frozen=True)
class _Move:
    """An operator that moves dimensions: where it puts the one at `axis`; -1 where that is lost, None where it stays."""

    axis: int
    before: tuple[Size, ...]
    shape: tuple[Size, ...]
    given: tuple[Value, ...]
    named: dict[str, Value]

    def dim(self, default: Value = None, size: int | None = None) -> int | None:
        """The dimension that is named first, from the front."""
        return self.place(self.given[0] if self.given else self.named.get("dim", default), size)

    def place(self, value: Value, size: int | None = None) -> int | None:
        size = len(self.before) if size is None else size
        return value % size if isinstance(value, int) and -size <= value < size else None

    def exchanged(self) -> int:
        given, named = self.given, self.named
        one, two = (self.place(given[i] if i < len(given) else named.get(f"dim{i}")) for i in (0, 1))
        if one is None or two is None:
            return -1
        return two if self.axis == one else one if self.axis == two else self.axis

    def reversed(self) -> int:
        return len(self.before) - 1 - self.axis

    def turned(self) -> int:
        rank = len(self.before)
        return {rank - 1: rank - 2, rank - 2: rank - 1}.get(self.axis, self.axis)

    def permuted(self) -> int:
        places = [self.place(value) for value in _order(self.given, self.named)]
        return places.index(self.axis) if self.axis in places else -1

    def inserted(self) -> int:
        where = self.dim(size=len(self.before) + 1)
        return -1 if where is None else self.axis + (where <= self.axis)

    def stacked(self) -> int:
        where = self.dim(0, len(self.before) + 1)
        return -1 if where is None else self.axis + (where <= self.axis)

    def reshaped(self) -> int | None:
        return _reshaped(self.axis, self.before, self.shape)

    def indexed(self) -> int | None:
        return _indexed(self.axis, len(self.before), self.given[0] if self.given else None)

    def reduced(self) -> int:
        dim = self.dim()
        if dim is None or dim == self.axis:
            return -1
        return self.axis if len(self.shape) == len(self.before) else self.axis - (dim < self.axis)

    def joined(self) -> int | None:
        dim = self.dim(self.named.get("axis", 0))
        return -1 if dim is None or dim == self.axis else None

    def lost(self) -> int:
        return -1


_MOVES: dict[str, Callable[[_Move], int | None]] = {
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _Move.exchanged),
    **dict.fromkeys(("t", "T", "H"), _Move.reversed),
    **dict.fromkeys(("mT", "mH"), _Move.turned),
    "permute": _Move.permuted,
    "unsqueeze": _Move.inserted,
    **dict.fromkeys(
        "view reshape flatten unflatten squeeze reshape_as view_as Flatten Unflatten".split(), _Move.reshaped
    ),
    "getitem": _Move.indexed,
    **dict.fromkeys(_REDUCTIONS, _Move.reduced),
    **dict.fromkeys(("cat", "concat", "concatenate", "gather"), _Move.joined),
    "stack": _Move.stacked,
    "movedim": _Move.lost,
}


def _order(given: tuple[Value, ...], named: dict[str, Value]) -> tuple[Value, ...]:
    values = given[0] if len(given) == 1 else given or named.get("dims", ())
    return items_of(values) or ()


def _reshaped(axis: int, before: tuple[Size, ...], shape: tuple[Size, ...]) -> int:
    """The dimension of a reshaped tensor that is exactly one of the tensor before."""
    ahead = dims.product(before[:axis])
    for index, size in enumerate(shape):
        if size == before[axis] and dims.product(shape[:index]) == ahead:
            return index
    return -1


def _indexed(axis: int, rank: int, key: Value) -> int:
    """Where an index of slices and numbers leaves a dimension."""
    parts = list(tuple_of(key))
    if any_are(parts, Tensor, ListValue):
        return -1
    used = sum(part is not None and part is not ... for part in parts)
    if ... not in parts:
        parts.append(...)
    source, target = 0, 0
    for part in parts:
        if part is None:
            target += 1
        elif part is ...:
            skipped = rank - used
            if source <= axis < source + skipped:
                return target + axis - source
            source, target = source + skipped, target + skipped
        elif isinstance(part, SliceValue):
            if source == axis:
                return target
            source, target = source + 1, target + 1
        else:
            if source == axis:
                return -1
            source += 1
    return -1

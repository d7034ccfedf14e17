"""The meaning of a boolean mask: whether what is True in it is to be kept or to be left out, told by where it comes from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from torchsleuth.interp.marks import KEPT_BY
from torchsleuth.interp.trace import Operation
from torchsleuth.rules.evidence.operands import lineage
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax.forms import is_assignment, is_name, is_unary, nodes_in, targets_of
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_number
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.values import Origin, Tensor, Value

_MAX_STEPS = 24
_MOVES = KEPT_BY | frozenset("bool long int byte type_as requires_grad_ cuda cpu clamp".split())
"""Operators that leave it as it is, whatever its shape is afterwards."""
_TURNS = frozenset("permute transpose t T mT movedim swapaxes flip roll".split())
"""Those of them after which a triangle is another one."""
_INVERTS = frozenset("invert logical_not bitwise_not".split())
_COMPARISONS = frozenset("eq ne lt le gt ge".split())
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_BOTH = frozenset("and_ iand bitwise_and logical_and mul".split())
_EITHER = frozenset("or_ ior bitwise_or logical_or".split())
_EMBEDDINGS = frozenset("Embedding embedding EmbeddingBag embedding_bag one_hot".split())
_FEW_ROWS = 4
_PAD = re.compile(r"(?i)(?:^|[^a-z])pad(?:ding)?(?:_?(?:idx|id|ix|index|token|token_id|value|val))?(?:$|[^a-z])")
_LENGTHS = re.compile(
    r"(?i)(?:^|[^a-z])(?:\w*len(?:gth)?s?|valid_\w+|n_valid|num_(?:valid|tokens|points|frames))(?:$|[^a-z])"
)
_NOT_LENGTHS = re.compile(r"(?i)pad|start|offset|begin|min_|skip")


@dataclass(frozen=True)
class Meaning:
    """`kept`: True stands for what is to be kept. `kind`: "padding" (which positions hold anything), "order" (which come
    before which). `empty_row`, `full_row`: of an order, whether some row is False, or True, from one end to the other.
    `origin`: where that is decided."""

    kept: bool
    kind: str
    origin: Origin
    empty_row: bool = False
    full_row: bool = False

    def inverted(self) -> Meaning:
        return replace(self, kept=not self.kept, empty_row=self.full_row, full_row=self.empty_row)


class Masks:
    """The meanings of the masks of a document."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def meaning(self, mask: Tensor, depth: int = _MAX_STEPS) -> Meaning | None:
        """The meaning of True in a mask, None where that is not known."""
        origin = mask.origin
        if origin is None or depth == 0 or mask.identity in self._written:
            return None
        name = _name(origin.operator)
        if name in _INVERTS:
            return self._inverted(origin, depth)
        if name in _COMPARISONS:
            return self._compared(origin, name, depth)
        if name in ("triu", "tril"):
            return self._triangle(origin, name)
        if name in _BOTH | _EITHER:
            return self._combined(origin, name in _BOTH, depth)
        if name in ("sub", "rsub"):
            return self._subtracted(origin, name, depth)
        if name in ("zeros", "ones", "full", "zeros_like", "ones_like"):
            return self._filled(origin, name)
        if name in _MOVES and origin.sources:
            found = self.meaning(origin.sources[0], depth - 1)
            turned = name in _TURNS and found is not None and found.kind == "order"
            return None if turned else found
        return None

    def _inverted(self, origin: Origin, depth: int) -> Meaning | None:
        found = self.meaning(origin.sources[0], depth - 1) if origin.sources else None
        return None if found is None else found.inverted()

    def _subtracted(self, origin: Origin, name: str, depth: int) -> Meaning | None:
        """``1 - mask``"""
        operation = self._operation(origin)
        from_one = operation is not None and (
            operation.args[:1] == (1,) or name == "rsub" and operation.args[1:] == (1,)
        )
        return self._inverted(origin, depth) if from_one and len(origin.sources) == 1 else None

    def _combined(self, origin: Origin, both: bool, depth: int) -> Meaning | None:
        """The meaning of two masks together, where that is to be kept which both keep, or left out which either leaves out."""
        found = [self.meaning(source, depth - 1) for source in origin.sources]
        if len(found) != 2 or found[0] is None or found[1] is None:
            return None
        if found[0].kept is not both or found[1].kept is not both:
            return None
        return found[0] if found[0].kind == "padding" else found[1]

    def _triangle(self, origin: Origin, name: str) -> Meaning | None:
        """``torch.triu(torch.ones(n, n), diagonal=1)``: True for what comes later than the row's own position."""
        operation, ones = self._operation(origin), origin.sources[0] if origin.sources else None
        made = ones.origin if ones is not None else None
        if (
            operation is None
            or made is None
            or ones is None
            or _name(made.operator) not in ("ones", "ones_like", "full")
        ):
            return None
        full = self._operation(made)
        if _name(made.operator) == "full" and (full is None or full.args[1:2] not in ((True,), (1,))):
            return None
        shape = ones.spec.shape
        if ones.identity in self._written or shape is None or len(shape) < 2:
            return None
        diagonal = as_kind(operation.given(1, "diagonal", 0), int)
        if diagonal is None or diagonal not in (-1, 0, 1) or dims.equal(shape[-1], shape[-2]) is not True:
            return None
        return _order(origin, name == "triu", diagonal)

    def _compared(self, origin: Origin, name: str, depth: int) -> Meaning | None:
        operation = self._operation(origin)
        if operation is None or len(operation.args) != 2:
            return None
        left, right = operation.args
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            return self._by_position(origin, name, left, right)
        if isinstance(right, Tensor):
            left, right, name = right, left, _SWAPPED[name]
        if not isinstance(left, Tensor) or not isinstance(right, bool | int | float):
            return None
        inner = self.meaning(left, depth - 1)
        if inner is not None:
            same = _as_is(name, right)
            return None if same is None else inner if same else inner.inverted()
        if name in ("eq", "ne") and self._is_padding(origin, left, right):
            return Meaning(name == "ne", "padding", origin)
        return None

    def _is_padding(self, origin: Origin, ids: Tensor, value: float) -> bool:
        """Whether a number stands for padding among the tokens that it is compared with."""
        if ids.spec.dtype not in ("int64", "int32") or isinstance(value, bool):
            return False
        rows = self._embedded.get(self._root(ids))
        node = as_kind(origin.site.node, ast.Compare)
        sides = [node.left, *node.comparators] if node is not None else []
        named = any(_PAD.search(ast.unparse(side)) for side in sides[1:] or sides)
        if rows is None:
            return named
        padding, count = rows
        enough = not is_number(count) or count > _FEW_ROWS
        return named or (enough and (value == padding or value == 0 and padding is None))

    def _by_position(self, origin: Origin, name: str, left: Tensor, right: Tensor) -> Meaning | None:
        """``torch.arange(n)[None] < lengths[:, None]``, or positions against positions."""
        positions = [self._is_arange(side) for side in (left, right)]
        if positions == [False, True]:
            left, right, name, positions = right, left, _SWAPPED[name], [True, False]
        if name in ("eq", "ne") or not positions[0]:
            return None
        mine, other = left.spec.shape, right.spec.shape
        if mine is None or other is None:
            return None
        if positions[1]:
            rows, columns = (
                (name, False) if mine[-1:] == (1,) else (_SWAPPED[name], True) if other[-1:] == (1,) else ("", False)
            )
            return _order(origin, rows in ("lt", "le"), {"lt": 1, "le": 0, "ge": 0, "gt": -1}[rows]) if rows else None
        node = origin.site.node
        sides = (
            [node.left, *node.comparators]
            if isinstance(node, ast.Compare)
            else node.args
            if isinstance(node, ast.Call)
            else []
        )
        texts = [ast.unparse(side) for side in sides]
        is_length = any(
            _LENGTHS.search(text) and not _NOT_LENGTHS.search(text) and "arange" not in text for text in texts
        )
        if len(other) < 2 or other[-1] != 1 or not is_length or any(_NOT_LENGTHS.search(text) for text in texts):
            return None
        return Meaning(name in ("lt", "le"), "padding", origin)

    def _is_arange(self, tensor: Tensor) -> bool:
        origin = self._last(tensor).origin
        return origin is not None and _name(origin.operator) == "arange"

    def _filled(self, origin: Origin, name: str) -> Meaning | None:
        """A mask of one value, in whose rows the other one is written up to their lengths, or from these on."""
        statement, function = self._statement(origin)
        if not is_assignment(statement) or name == "full":
            return None
        target = as_kind(statement.targets[0], ast.Name)
        if target is None:
            return None
        writes = list(_writes(function, target.id))
        kept = {_written_part(write, name.startswith("zeros"), function) for write in writes}
        return Meaning(kept == {True}, "padding", origin) if len(kept) == 1 and None not in kept else None

    def _statement(self, origin: Origin) -> tuple[ast.AST | None, ast.AST]:
        path = origin.site.span.path
        trail = self._analysis.trail(path, origin.site.node)
        function = first_of(reversed(trail), ast.FunctionDef) or self._analysis.tree(path)
        return first_of(reversed(trail), ast.stmt), function

    def _operation(self, origin: Origin) -> Operation | None:
        return self._analysis.operation_of(origin)

    def _last(self, tensor: Tensor) -> Tensor:
        """The tensor whose values another one has, in whatever shape."""
        for _ in range(_MAX_STEPS):
            origin = tensor.origin
            if origin is None or not origin.sources or _name(origin.operator) not in _MOVES:
                break
            tensor = origin.sources[0]
        return tensor

    def _root(self, tensor: Tensor) -> int:
        last = self._last(tensor)
        return last.identity if last.origin is None else id(last.origin.site)

    @cached_property
    def _embedded(self) -> dict[int, tuple[Value, Value]]:
        """Of the tokens that are looked up in a table: the row that is for padding, and how many rows there are."""
        found: dict[int, tuple[Value, Value]] = {}
        for operation in self._analysis.trace.operations:
            if _name(operation.target) in _EMBEDDINGS and operation.args and isinstance(operation.args[0], Tensor):
                module = operation.module
                given = (module.args, module.kwargs) if module is not None else ((), operation.kwargs)
                padding = given[1].get("padding_idx", given[0][2] if len(given[0]) > 2 else None)
                rows = given[1].get("num_embeddings", given[0][0] if given[0] else None)
                found[self._root(operation.args[0])] = padding, rows
        return found

    @cached_property
    def _written(self) -> set[int]:
        """Identities of the tensors that an operator changes where they are."""
        return {
            operation.args[0].identity
            for operation in self._analysis.trace.operations
            if operation.args and isinstance(operation.args[0], Tensor) and _changes(operation.target)
        }


def _order(origin: Origin, later: bool, diagonal: int) -> Meaning:
    """A triangle. `later`: it is True for columns at or above the diagonal, otherwise at or below it."""
    empty = diagonal >= 1 if later else diagonal <= -1
    full = diagonal <= 0 if later else diagonal >= 0
    return Meaning(not later, "order", origin, empty, full)


def _as_is(name: str, value: float) -> bool | None:
    """Whether a comparison of zeros and ones with a number is true for the ones (True) or for the zeros (False)."""
    results = [
        {
            "eq": one == value,
            "ne": one != value,
            "lt": one < value,
            "le": one <= value,
            "gt": one > value,
            "ge": one >= value,
        }[name]
        for one in (0, 1)
    ]
    return None if results[0] == results[1] else results[1]


def _changes(target: str) -> bool:
    name = target.rpartition(".")[2]
    inplace = is_in_place(target) and name != "requires_grad_"
    return inplace or (target.startswith("operator.i") and name not in ("invert", "index", "is_"))


def _writes(function: ast.AST, name: str) -> Iterator[ast.stmt]:
    """The statements that may change what a variable of a function holds."""
    for node in nodes_in(function, ast.Assign, ast.AugAssign):
        targets = targets_of(node)
        for target in targets:
            base = target
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if (
                is_name(base, name)
                and not isinstance(target, ast.Name)
                or isinstance(node, ast.AugAssign)
                and is_name(base, name)
            ):
                yield node


def _written_part(write: ast.stmt, empty: bool, function: ast.AST) -> bool | None:
    """Whether ``mask[i, :n] = 1`` leaves what is to be kept True; `empty`: the mask is zero elsewhere."""
    if not isinstance(write, ast.Assign) or not isinstance(write.targets[0], ast.Subscript):
        return None
    key, value = write.targets[0].slice, as_kind(write.value, ast.Constant)
    last = as_kind(key.elts[-1] if isinstance(key, ast.Tuple) and key.elts else key, ast.Slice)
    if value is None or last is None or bool(value.value) is not empty:
        return None
    bounds = [end for end in (last.lower, last.upper) if end is not None]
    if last.step is not None or len(bounds) != 1 or not _is_length(bounds[0], function):
        return None
    negative = is_unary(bounds[0], ast.USub)
    # Up to the length, or the last ones of that many: what there is. From the length on: what there is not.
    holds = (bounds[0] is last.upper) is not negative
    return holds is empty


def _is_length(bound: ast.expr, function: ast.AST) -> bool:
    """Whether the end of a slice is how many elements a row has."""
    texts = [ast.unparse(bound)]
    for loop in nodes_in(function, ast.For):
        if isinstance(bound, ast.Name):
            names = [part.id for part in nodes_in(loop.target, ast.Name)]
            texts += [ast.unparse(loop.iter)] if bound.id in names else []
    if any(_NOT_LENGTHS.search(text) for text in texts):
        return False
    return any(_LENGTHS.search(text) or "len(" in text or ".shape" in text or ".size(" in text for text in texts)


def _name(operator: str) -> str:
    name = operator.rpartition(".")[2]
    return name if name in KEPT_BY or name in ("and_", "or_", "not_") else name.rstrip("_")


__all__ = ["Masks", "Meaning"]


_CONVERSIONS = frozenset("dropout Dropout to float contiguous type_as long int".split())


def holds_ones(analysis: Analysis, mask: Tensor) -> bool:
    """Whether a tensor is known to hold ones and zeros alone: a comparison, or a triangle of ones."""
    triangle = False
    for current, operation in lineage(analysis, mask):
        name = operation.name
        of_booleans = bool(operation.specs) and all(spec.dtype == "bool" for spec in operation.specs)
        if of_booleans or current.spec.dtype == "bool" or name in ("eq", "ne", "lt", "gt", "le", "ge", "logical_not"):
            return True
        if name == "ones":
            return triangle
        triangle = triangle or name in ("tril", "triu")
        if name not in (*_CONVERSIONS, "tril", "triu", "unsqueeze", "view", "expand", "getitem"):
            return False
    return mask.spec.dtype == "bool"

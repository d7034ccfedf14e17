"""Fake tensors: specs in, specs out, with sizes as sympy expressions over unbacked symbols in between."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
from collections.abc import Mapping
from functools import cache
from typing import Any

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental import symbolic_shapes
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy import functions as sympy_functions

from torchsleuth.oracle import names
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size, Symbol, is_number
from torchsleuth.tensors.spec import (
    DictSpec,
    DType,
    Equality,
    Hole,
    ListSpec,
    Native,
    ObjectSpec,
    RecordClass,
    SliceSpec,
    StructSpec,
    TensorSpec,
)

HOLE_WITNESSES: dict[str, tuple[Any, ...]] = {
    "float": (0.5, 0.25, 1.0),
    "int": (1, 2),
    "bool": (True, False),
    "str": ("?", "!"),
}
"""Values that stand for a number or a switch of which only the type is known: an answer has to hold with each."""


class Unsupported(Exception):
    """A value that has no counterpart on the other side; the operator is undecided."""


class Mode(FakeTensorMode):
    """The fake mode, of which there is one.

    Some constructors (nn.TransformerEncoder) copy modules, and a deep copy of a fake tensor copies its mode, with the
    weak references to storages that the mode keeps. A copied reference is released once more than it was taken: the
    storage is freed under tensors that use it, and the heap is corrupted.
    """

    def __init__(self) -> None:
        super().__init__(allow_non_fake_inputs=True)

    def __copy__(self) -> Mode:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Mode:
        return self


def contiguous_strides(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(shape):
        strides.append(step)
        step = dims.multiply(step, 1 if size == 0 else size)
    return tuple(reversed(strides))


class Session:
    """One isolated evaluation: its own ShapeEnv, and the mapping between our symbols and torch's."""

    def __init__(self, mode: Mode, symbolic: bool, device: str = "cpu") -> None:
        self.mode = mode
        self.device = device
        self.env = ShapeEnv() if symbolic else None
        mode.shape_env = self.env
        mode.static_shapes = not symbolic
        mode.cache_enabled = not symbolic
        self._symints: dict[Symbol, Any] = {}
        self._symbols: dict[sympy.Symbol, Symbol] = {}
        self._created = 0

    def symint(self, symbol: Symbol) -> Any:
        """The unbacked SymInt for a canonical symbol, assumed to be at least 2."""
        if symbol not in self._symints:
            if self.env is None:
                raise Unsupported("a symbolic size in a concrete evaluation")
            value = self.env.create_unbacked_symint()
            if symbol.positive:
                torch._check(value >= 0)
                symbolic_shapes._constrain_range_for_size(value, 2, 2**31)
            self._symints[symbol] = value
            self._symbols[value.node.expr] = symbol
        return self._symints[symbol]

    def size(self, size: Size) -> Any:
        if isinstance(size, int):
            return size
        total: Any = 0
        for monomial, coefficient in size.terms:
            term: Any = coefficient
            for atom, exponent in monomial:
                if isinstance(atom, Symbol):
                    value = self.symint(atom)
                else:
                    left, right = (self.size(argument) for argument in atom.arguments)
                    if atom.operator == "//":
                        value = left // right
                    elif atom.operator == "%":
                        value = left % right
                    elif atom.operator == "max":
                        value = torch.sym_max(left, right)
                    else:
                        value = torch.sym_min(left, right)
                for _ in range(exponent):
                    term = term * value
            total = total + term
        return total

    def to_fake(self, value: Any) -> Any:
        """A spec as the argument torch receives. Raises Unsupported."""
        if isinstance(value, TensorSpec):
            return self._tensor(value)
        if isinstance(value, Dim):
            return self.size(value)
        return plain_argument(value, self.to_fake)

    def _tensor(self, spec: TensorSpec) -> torch.Tensor:
        if spec.shape is None or spec.dtype is None:
            raise Unsupported("a tensor of unknown shape")
        dtype = getattr(torch, spec.dtype)
        shape = [self.size(size) for size in spec.shape]
        if spec.strides is None:
            tensor = torch.empty(shape, dtype=dtype, device=self.device)
        else:
            tensor = torch.empty_strided(
                shape, [self.size(stride) for stride in spec.strides], dtype=dtype, device=self.device
            )
        if spec.requires_grad and (dtype.is_floating_point or dtype.is_complex) and self.device == "cpu":
            # Not a leaf, and no view of one: an in-place operation on an intermediate value is no error.
            with torch.enable_grad():
                tensor = tensor + torch.zeros((), dtype=dtype, requires_grad=True)
        return tensor

    def size_from(self, value: Any) -> Size:
        if is_number(value):
            return value
        if isinstance(value, torch.SymInt):
            return self.dim_from(value.node.expr)
        raise Unsupported(f"size {type(value).__name__}")

    def dim_from(self, expression: Any) -> Size:
        """A sympy expression as a Size; `Max(1, e)` of strides is `e`, since sizes are positive."""
        if isinstance(expression, int):
            return expression
        if expression.is_Integer:
            return int(expression)
        if expression.is_Symbol:
            if expression not in self._symbols:
                self._created += 1
                self._symbols[expression] = Symbol("?", -self._created)
            return dims.of(self._symbols[expression])
        arguments = [self.dim_from(argument) for argument in expression.args]
        if expression.is_Add:
            total: Size = 0
            for argument in arguments:
                total = dims.add(total, argument)
            return total
        if expression.is_Mul:
            return dims.product(arguments)
        if expression.is_Pow and isinstance(arguments[1], int) and arguments[1] >= 0:
            return dims.power(arguments[0], arguments[1])
        name = type(expression).__name__
        if name in ("FloorDiv", "CleanDiv", "IntTrueDiv") and arguments[1] != 0:
            return dims.floor_divide(arguments[0], arguments[1])
        if name in ("Mod", "PythonMod") and arguments[1] != 0:
            return dims.modulo(arguments[0], arguments[1])
        if isinstance(expression, sympy_functions.Max | sympy.Max) or name == "Max":
            rest = [argument for argument in arguments if argument != 1]
            return self._fold("max", rest or [1])
        if isinstance(expression, sympy_functions.Min | sympy.Min) or name == "Min":
            return self._fold("min", arguments)
        raise Unsupported(f"expression {name}")

    @staticmethod
    def _fold(operator: str, arguments: list[Size]) -> Size:
        result = arguments[0]
        for argument in arguments[1:]:
            result = dims.extremum(operator, result, argument)
        return result

    def from_fake(self, value: Any) -> Any:
        """A value that torch returned, as a spec. Raises Unsupported."""
        match value:
            case torch.Tensor():
                return self.spec_of(value)
            case torch.SymInt():
                return self.dim_from(value.node.expr)
            case torch.SymFloat():
                return Hole("float")
            case torch.SymBool():
                return Hole("bool")
        return plain_result(value, self.from_fake)

    def spec_of(self, tensor: torch.Tensor) -> TensorSpec:
        if tensor.is_nested or tensor.layout != torch.strided or tensor.is_quantized:
            raise Unsupported("a tensor that is not dense")
        shape = tuple(self.size_from(size) for size in tensor.shape)
        strides: tuple[Size, ...] | None
        try:
            strides = tuple(self.size_from(stride) for stride in tensor.stride())
        except Unsupported:
            strides = None
        if strides is not None and _same_layout(shape, strides):
            strides = None
        return TensorSpec(shape, str(tensor.dtype).removeprefix("torch."), None, tensor.requires_grad, strides)

    def compared(self, condition: Any) -> tuple[Size, Size] | None:
        """The two sizes whose equality is asked for; None for other conditions. Raises Unsupported."""
        if not isinstance(condition, sympy.Eq | sympy.Ne):
            return None
        left, right = self.dim_from(condition.lhs), self.dim_from(condition.rhs)
        return None if left == right or dims.solve(dims.subtract(left, right)) is None else (left, right)

    def facts(self, soft: bool) -> tuple[Equality, ...]:
        """Equalities between sizes that the evaluation required."""
        if self.env is None:
            return ()
        found: dict[tuple[Size, Size], None] = {}
        equalities = [sympy.Eq(symbol, value, evaluate=False) for symbol, value in self.env.replacements.items()]
        for asserts in self.env.deferred_runtime_asserts.values():
            equalities.extend(item.expr for item in asserts if isinstance(item.expr, sympy.Eq))
        for equality in equalities:
            try:
                pair = (self.dim_from(equality.lhs), self.dim_from(equality.rhs))
            except (Unsupported, ZeroDivisionError):
                continue
            if pair[0] != pair[1]:
                found[pair] = None
        return tuple(Equality(left, right, soft) for left, right in found)


def _same_layout(shape: tuple[Size, ...], strides: tuple[Size, ...]) -> bool:
    """Whether strides are the contiguous ones, ignoring dimensions of size 1."""
    expected = contiguous_strides(shape)
    if 0 in shape:
        return True
    return all(size == 1 or mine == theirs for size, mine, theirs in zip(shape, strides, expected))


def _object(recipe: ObjectSpec, convert: Any) -> Any:
    """A library object of a recipe. Distributions don't look at the values of their parameters."""
    try:
        cls = names.object_class(recipe.path)
    except LookupError as error:
        raise Unsupported(recipe.path) from error
    kwargs = {name: convert(item) for name, item in recipe.kwargs}
    if issubclass(cls, torch.distributions.Distribution):
        kwargs["validate_args"] = False
    return cls(*(convert(item) for item in recipe.args), **kwargs)


def _named(value: Native) -> Any:
    """A library object that is given as an argument: the name of weights. Functions and classes never are."""
    try:
        found = names.published(value.path)
    except LookupError as error:
        raise Unsupported(value.path) from error
    if not isinstance(found, enum.Enum):
        raise Unsupported(value.path)
    return found


def plain_argument(value: Any, convert: Any) -> Any:
    """Everything but tensors and sizes, from spec to Python."""
    if value is None or isinstance(value, bool | int | float | complex | str | type(...)):
        return value
    match value:
        case tuple():
            return tuple(convert(item) for item in value)
        case ListSpec():
            return [convert(item) for item in value.items]
        case DictSpec():
            return {convert(key): convert(item) for key, item in value.items}
        case DType():
            return getattr(torch, value.name)
        case Hole():
            if value.type not in HOLE_WITNESSES:
                raise Unsupported(value.type)
            return HOLE_WITNESSES[value.type][0]
        case SliceSpec():
            return slice(convert(value.start), convert(value.stop), convert(value.step))
        case Native():
            return _named(value)
        case ObjectSpec():
            return _object(value, convert)
    raise Unsupported(type(value).__name__)


def _struct_fields(cls: type) -> tuple[str, ...]:
    """Field names of torch.return_types and named tuples, in order."""
    named: tuple[str, ...] = getattr(cls, "_fields", ())
    if named or not hasattr(cls, "n_sequence_fields"):
        return named
    members = [
        name
        for name in vars(cls)
        if not name.startswith("_") and name not in ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    ]
    return tuple(members[: cls.n_sequence_fields])


def _record(value: Mapping[str, Any], convert: Any) -> StructSpec:
    """A record as models of transformers return it: fields that are also items by position and by name. Caches are not described."""
    items: list[Any] = []
    for item in value.values():
        try:
            items.append(convert(item))
        except Unsupported:
            items.append(Hole("?"))
    return StructSpec(tuple(value), tuple(items), _record_class(type(value)))


@cache
def _record_class(cls: type) -> RecordClass:
    declared = tuple(field.name for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()
    return RecordClass(cls.__name__, declared, frozenset(dir(cls)))


def plain_result(value: Any, convert: Any) -> Any:
    """Everything but tensors and sizes, from Python to spec."""
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    match value:
        case tuple():
            items = tuple(convert(item) for item in value)
            fields = _struct_fields(type(value))
            return StructSpec(fields, items) if fields else items
        case list():
            return ListSpec(tuple(convert(item) for item in value))
        case Mapping() if hasattr(value, "to_tuple"):
            return _record(value, convert)
        case Mapping():
            return DictSpec(tuple((convert(key), convert(item)) for key, item in value.items()))
        case torch.dtype():
            return DType(str(value).removeprefix("torch."))
        case torch.nn.utils.rnn.PackedSequence():
            raise Unsupported("PackedSequence")
        case collections.abc.Iterator():
            raise Unsupported("iterator")
    raise Unsupported(type(value).__name__)

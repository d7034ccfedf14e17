"""Questions to the oracle: immutable descriptions of tensors, modules and plain arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Dim, Size, Value, is_number, product

KEPT: Any = object()


class NotASpec(Exception):
    """A value has no description that the oracle understands."""


@dataclass(frozen=True)
class TensorSpec(Value):
    """A tensor without its data.

    `shape` is None while the rank is unknown; `strides` is None for the contiguous layout (or unknown,
    with `shape`); `requires_grad` is None where unknown. `device` never enters the oracle.
    """

    shape: tuple[Size, ...] | None
    dtype: str | None = "float32"
    device: Device | None = None
    requires_grad: bool | None = False
    strides: tuple[Size, ...] | None = None

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def known(self) -> bool:
        return self.shape is not None and self.dtype is not None

    @property
    def symbolic(self) -> bool:
        """Whether a size or a stride is not a number."""
        known: bool | None = self.__dict__.get("_symbolic")
        if known is None:
            known = any(isinstance(size, Dim) for size in (*(self.shape or ()), *(self.strides or ())))
            self.__dict__["_symbolic"] = known
        return known

    def __hash__(self) -> int:
        """Computed once: specs are in the keys of every table."""
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash((self.shape, self.dtype, self.device, self.requires_grad, self.strides))
            self.__dict__["_hash"] = known
        return known

    def __eq__(self, other: object) -> bool:
        """As of any dataclass, and quicker: a memo compares them all the time."""
        if self is other:
            return True
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (
            self.shape == other.shape
            and self.dtype == other.dtype
            and self.requires_grad is other.requires_grad
            and (self.device is other.device or self.device == other.device)
            and self.strides == other.strides
        )

    def numel(self) -> Size | None:
        return None if self.shape is None else product(self.shape)

    def with_(
        self,
        shape: Any = KEPT,
        dtype: Any = KEPT,
        device: Any = KEPT,
        requires_grad: Any = KEPT,
        strides: Any = KEPT,
    ) -> TensorSpec:
        """The same, but for what is given."""
        return TensorSpec(
            self.shape if shape is KEPT else shape,
            self.dtype if dtype is KEPT else dtype,
            self.device if device is KEPT else device,
            self.requires_grad if requires_grad is KEPT else requires_grad,
            self.strides if strides is KEPT else strides,
        )

    @property
    def is_dense(self) -> bool:
        """Whether no element of the memory is left out or used twice, in whatever order. Only then does a copy keep the order."""
        if self.strides is None:
            return True
        pairs = [(stride, size) for stride, size in zip(self.strides, self.shape or ()) if size != 1]
        known = [(stride, size) for stride, size in pairs if isinstance(stride, int) and isinstance(size, int)]
        step = 1
        for stride, size in sorted(known):
            if stride != step:
                return False
            step *= size
        return len(known) == len(pairs)


UNKNOWN_TENSOR = TensorSpec(None, None, None, None)


def is_differentiable(dtype: str | None) -> bool:
    """Whether tensors of a dtype may require grad; those of an unknown one may."""
    return dtype is None or dtype.startswith(("float", "bfloat", "complex"))


@dataclass(frozen=True)
class DType:
    """``torch.float32`` and its like, by name."""

    name: str

    def __str__(self) -> str:
        return f"torch.{self.name}"


def plain_name(name: str) -> str:
    """A name but for its case and underscores, in which people err."""
    return name.replace("_", "").casefold()


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function or constructor. kind: place or name (it is given by that alone), either, places (``*args``)
    or names (``**kwargs``). `required`: it has no default. `type`: that of its default, by name; empty where it has none."""

    name: str
    kind: str
    required: bool
    type: str = ""


@dataclass(frozen=True)
class Native:
    """An object of an installed library, by its dotted path, e.g. ``torch.nn.functional.relu``.

    `kind` is one of package, function, class, module-class (a subclass of nn.Module), constant, object.
    """

    path: str
    kind: str

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


@dataclass(frozen=True)
class Hole:
    """A scalar whose type is known and whose value is not."""

    type: str


@dataclass(frozen=True)
class ModuleSpec:
    """A library module by its recipe: constructor and arguments; equal recipes behave equally.

    Models that other packages define have a `package`, with its version. Of those, `part` is the dotted name of the
    submodule that is meant (all of it if empty), `method` what is called, and `changes` what was set on it since, by
    dotted name: plain values, and `Answers` for modules.
    """

    path: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    training: bool = True
    dtype: str | None = None
    requires_grad: bool = True
    package: str = ""
    part: str = ""
    method: str = "forward"
    changes: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class PartSpec:
    """A submodule of a model that another package has built: its dotted name, its canonical class, the constructor's
    arguments that are plain attributes (of layers of torch), and whether it has parameters, its own or those of parts."""

    name: str
    path: str
    settings: tuple[tuple[str, Any], ...]
    has_parameters: bool


@dataclass(frozen=True)
class Answers:
    """The results of the calls of a module, in order; the evaluation ends at the next one, with a `PartCall`."""

    items: tuple[Any, ...] = ()


@dataclass(frozen=True)
class PartCall:
    """The call of a submodule that an evaluation has come to: one without answer, or one that fails."""

    part: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class PartAnswer:
    """The very value that a module answered at one of its calls, or, of no module, an argument of the whole call."""

    part: str
    index: int


@dataclass(frozen=True)
class ObjectSpec:
    """A library object by its recipe, such as a distribution."""

    path: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class SliceSpec:
    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True)
class ListSpec:
    """A list argument (tuples are tuples)."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class RecordClass:
    """A class of dicts whose entries are attributes as well. `declared`: those that there may be, of which the ones without an
    entry are None; `attributes`: all others that an object of it has."""

    name: str
    declared: tuple[str, ...]
    attributes: frozenset[str]


@dataclass(frozen=True)
class StructSpec:
    """A named tuple that an operator returns, such as ``(values, indices)`` of max. `of`: for a record of a model's, its class."""

    fields: tuple[str, ...]
    items: tuple[Any, ...]
    of: RecordClass | None = None


@dataclass(frozen=True)
class DictSpec:
    items: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True)
class Autocast:
    """Operators on this kind of device work in this dtype, where PyTorch lists them as able to."""

    device: str
    dtype: str


@dataclass(frozen=True)
class Equality:
    """A fact that an operator established: left == right. `soft`: or one of the two is 1 (broadcasting)."""

    left: Size
    right: Size
    soft: bool


@dataclass(frozen=True)
class Result:
    """The operator succeeds with this value (a tree of specs)."""

    value: Any
    facts: tuple[Equality, ...] = ()


@dataclass(frozen=True)
class Failure:
    """The operator raises. `confirmed`: the same operator, executed on real tensors, raised it too."""

    exception: str
    message: str
    confirmed: bool


@dataclass(frozen=True)
class Undecided:
    """Neither success nor failure can be proved."""

    reason: str


Outcome = Result | Failure | Undecided


_NESTED = (tuple, ListSpec, DictSpec, ObjectSpec)


def scalar_types(value: Any) -> Any:
    """The scalar types in a tree: ``True``, ``1`` and ``1.0`` are equal in keys, and different arguments."""
    match value:
        case tuple():
            return tuple(
                [
                    scalar_types(item)
                    if isinstance(item, _NESTED)
                    else type(item)
                    if item is True or item is False or type(item) is float
                    else None
                    for item in value
                ]
            )
        case ListSpec() | DictSpec():
            return scalar_types(value.items)
        case ObjectSpec():
            return scalar_types((value.args, value.kwargs))
    return type(value) if isinstance(value, bool | float) else None


def without_sizes(value: Any) -> Any:
    """The part of a tree of arguments that the dtypes of a result depend on: all but sizes and numbers."""
    match value:
        case TensorSpec():
            return TensorSpec, value.dtype, value.rank, value.requires_grad
        case tuple():
            return tuple([without_sizes(item) for item in value])
        case ModuleSpec():
            given = tuple([without_sizes(item) for item in (value.args, value.kwargs, value.changes)])
            return value.path, given, value.training, value.dtype, value.package, value.part, value.method
        case Answers():
            return without_sizes(value.items)
        case ListSpec() | DictSpec():
            return type(value), without_sizes(value.items)
    return Dim if is_number(value) else type(value) if isinstance(value, float | Dim) else value


def without_dtype(value: Any, dtype: str | None = None) -> Any:
    """A result without the dtypes of its tensors, or without this one."""
    match value:
        case TensorSpec():
            return value.with_(dtype=None) if dtype in (None, value.dtype) else value
        case tuple():
            return tuple(without_dtype(item, dtype) for item in value)
        case PartCall():
            return replace(value, args=without_dtype(value.args, dtype), kwargs=without_dtype(value.kwargs, dtype))
        case StructSpec() | ListSpec():
            return replace(value, items=without_dtype(value.items, dtype))
    return value


def with_dtypes(value: Any, other: Any, same: bool = False) -> Any:
    """A result with the dtypes of another of the same structure, and with none where that is another one.

    `same`: with its own dtypes where they are those of the other, too, and none elsewhere."""
    match value:
        case TensorSpec():
            dtype = other.dtype if isinstance(other, TensorSpec) and value.rank == other.rank else None
            return value.with_(dtype=None if same and dtype != value.dtype else dtype)
        case tuple():
            others = other if isinstance(other, tuple) and len(other) == len(value) else (None,) * len(value)
            return tuple(with_dtypes(*pair, same) for pair in zip(value, others))
        case PartCall():
            args, kwargs = (other.args, other.kwargs) if _alike(value, other) else (None, None)
            return replace(
                value, args=with_dtypes(value.args, args, same), kwargs=with_dtypes(value.kwargs, kwargs, same)
            )
        case StructSpec() | ListSpec():
            return replace(
                value, items=with_dtypes(value.items, other.items if type(other) is type(value) else None, same)
            )
    return value


def _alike(value: PartCall, other: Any) -> bool:
    return isinstance(other, PartCall) and value.part == other.part

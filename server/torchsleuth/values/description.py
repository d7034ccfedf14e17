"""A value in a few words, as `torchsleuth explain` shows it."""

from __future__ import annotations

from functools import singledispatch

from torchsleuth.tensors import dims
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.spec import DType, Native, TensorSpec
from torchsleuth.values import (
    Array,
    Availability,
    Bound,
    Builtin,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Namespace,
    Partial,
    Scalar,
    Super,
    Tensor,
    Value,
    Wrapped,
)
from torchsleuth.values.unknown import Unknown

LONGEST = 60
"""Characters of a constant that are shown."""
NAMED = (Function, ClassValue, Native, Namespace, Bound, Builtin, Super)
"""Values that are what their name says."""
_ARTICLES = {"float": "a float", "bool": "a bool", "str": "a str"}


@singledispatch
def describe(value: Value) -> str:
    """``float32 [64, 10] on cpu``, ``3``, ``list of 4``, ``unknown`` …"""
    return type(value).__name__


@describe.register(type(None))
@describe.register(bool)
@describe.register(int)
@describe.register(float)
@describe.register(complex)
@describe.register(str)
@describe.register(bytes)
def _constant(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


@describe.register
def _unknown(value: Unknown) -> str:
    return "unknown"


@describe.register
def _size(value: Dim) -> str:
    text = dims.text(value)
    return "an int" if text == "?" else f"an int, {text}"


@describe.register
def _scalar(value: Scalar) -> str:
    return _ARTICLES.get(value.type, value.type)


@describe.register
def _availability(value: Availability) -> str:
    return f"whether {value.kind} is available"


def _spec(spec: TensorSpec) -> str:
    sizes = (
        "of unknown shape"
        if spec.shape is None
        else f"[{', '.join(map(str, dims.texts(spec.shape)))}]"
        if spec.shape
        else "scalar"
    )
    device = None if spec.device is None else f"on {spec.device}{'?' if spec.device.symbolic else ''}"
    grad = "requires grad" if spec.requires_grad else None
    return " ".join(part for part in (spec.dtype, sizes, device, grad) if part)


@describe.register
def _tensor(value: Tensor) -> str:
    return f"tensor {_spec(value.spec)}"


@describe.register
def _array(value: Array) -> str:
    return f"array {_spec(value.spec)}"


@describe.register
def _tuple(value: tuple) -> str:  # type: ignore[type-arg]
    inner = ", ".join(map(describe, value))
    return f"({inner})" if len(inner) <= LONGEST else f"tuple of {len(value)}"


@describe.register
def _list(value: ListValue) -> str:
    return value.type_name if value.items is None else f"{value.type_name} of {len(value.items)}"


@describe.register
def _dict(value: DictValue) -> str:
    return value.type_name if value.items is None else f"{value.type_name} of {len(value.items)}"


@describe.register
def _choice(value: Choice) -> str:
    return " or ".join(map(describe, value.options))


@describe.register
def _function(value: Function) -> str:
    return f"function {value.name}"


@describe.register
def _class(value: ClassValue) -> str:
    return f"class {value.name}"


@describe.register
def _instance(value: Instance) -> str:
    return f"{value.cls.name} object"


@describe.register
def _module(value: LibraryModule) -> str:
    return f"{value.type_name}({', '.join(map(describe, value.args))})"


@describe.register
def _object(value: LibraryObject) -> str:
    return f"{value.type_name} object"


@describe.register
def _native(value: Native) -> str:
    return value.path


@describe.register
def _namespace(value: Namespace) -> str:
    return "module"


@describe.register
def _bound(value: Bound) -> str:
    name = value.function if isinstance(value.function, str) else describe(value.function)
    return f"method {name.removeprefix('function ')} of {describe(value.receiver)}"


@describe.register
def _partial(value: Partial) -> str:
    return f"partial of {describe(value.function)}"


@describe.register
def _wrapped(value: Wrapped) -> str:
    return f"{value.path.rpartition('.')[2]} of {describe(value.inner)}"


@describe.register
def _device(value: Device) -> str:
    return f"device {value}{'?' if value.symbolic else ''}"


@describe.register
def _dtype(value: DType) -> str:
    return f"torch.{value.name}"

"""NumPy: its functions, and the methods of arrays, by the shapes and dtypes of what they return."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import array_dtypes, arrays, contained, contents, draws, integers, scalars, tables
from torchsleuth.interp.library.arrays import Shape
from torchsleuth.interp.models import Model, attribute, method
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_index
from torchsleuth.tensors.spec import ListSpec, Native
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Bound,
    Bounds,
    LibraryObject,
    ListValue,
    Scalar,
    Several,
    Value,
    is_int,
    is_unknown,
    items_of,
    numbers_of,
    opened,
    sizes_of,
    tuple_of,
)
from torchsleuth.values.frames import Frame

_UNARY_FLOAT = frozenset(
    "sqrt exp log log2 log10 log1p expm1 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt "
    "deg2rad rad2deg radians degrees exp2 sinc i0 reciprocal".split()
)
_UNARY_SAME = frozenset(
    "abs absolute negative positive square sign floor ceil round around rint trunc fabs conj conjugate nan_to_num "
    "ascontiguousarray copy sort roll clip invert real".split()
)
_FLIPS = {"flip": None, "fliplr": 1, "flipud": 0}
_UNARY_BOOL = frozenset("isnan isinf isfinite logical_not signbit isneginf isposinf".split())
_BINARY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv", "power": "pow",
    "maximum": "max", "minimum": "min", "mod": "mod", "remainder": "mod", "floor_divide": "floordiv", "hypot": "truediv",
    "arctan2": "truediv", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "equal": "eq",
    "not_equal": "ne", "logical_and": "lt", "logical_or": "lt", "logical_xor": "lt", "fmax": "max", "fmin": "min",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "isclose": "lt",
}  # fmt: skip
_ELEMENTWISE = _UNARY_FLOAT | _UNARY_SAME | _UNARY_BOOL | _BINARY.keys()
_REDUCTIONS = frozenset(
    "sum mean std var max min amax amin prod median nanmean nansum nanstd nanvar nanmax nanmin any all argmax argmin "
    "ptp nanmedian count_nonzero average".split()
)
_METHODS_AS_FUNCTIONS = frozenset(
    "reshape transpose ravel squeeze swapaxes repeat cumsum cumprod round clip conj conjugate argsort dot "
    "copy take nonzero".split()
)
_DRAWS = frozenset(
    "normal uniform standard_normal random random_sample exponential beta gamma poisson binomial randn rand lognormal "
    "laplace logistic gumbel standard_exponential standard_gamma chisquare geometric rayleigh weibull triangular "
    "vonmises pareto power standard_t standard_cauchy negative_binomial".split()
)
_INTEGER_DRAWS = frozenset("poisson binomial geometric negative_binomial".split())
_PARAMETERS_BEFORE_SIZE = {
    "normal": 2, "uniform": 2, "standard_normal": 0, "random": 0, "random_sample": 0, "exponential": 1, "beta": 2,
    "gamma": 2, "poisson": 1, "binomial": 2, "lognormal": 2, "laplace": 2, "logistic": 2, "gumbel": 2,
    "standard_exponential": 0, "standard_gamma": 1, "chisquare": 1, "geometric": 1, "rayleigh": 1, "weibull": 1,
    "triangular": 3, "vonmises": 2, "pareto": 1, "power": 1, "standard_t": 1, "standard_cauchy": 0,
    "negative_binomial": 2,
}  # fmt: skip
MAX_LISTED = 4096
"""Numbers of an array that its list shows one by one."""
GENERATORS = ("numpy.random.Generator", "numpy.random.RandomState")


# -- calls -----------------------------------------------------------------------------------------


def call(interp: Interpreter, path: str, call: Arguments) -> Value:
    """A call of ``numpy.…``."""
    if not call.exact:
        return UNKNOWN
    name = path.removeprefix("numpy.")
    made = arrays.of_operands(_called(interp, name, call), *call.args)
    if name in _ELEMENTWISE and any(map(tables.is_table, call.args)):
        return tables.of_ufunc(interp, made, call.args)
    return made if call.kwargs else scalars.computed(name, map(interp.resolved, call.args), made)


def _called(interp: Interpreter, name: str, call: Arguments) -> Value:
    if name.startswith("random."):
        return _random(interp, name.removeprefix("random."), call)
    if name.startswith("linalg."):
        return _linalg(interp, name.removeprefix("linalg."), call)
    if name == "dtype":
        known = array_dtypes.dtype_of(call.given(0, "dtype"))
        return UNKNOWN if known is None else Native(f"numpy.{known}", "external")
    if name in array_dtypes.ALIASES or name in array_dtypes.NUMERIC:
        return _convert(interp, name, call)
    model = _FUNCTIONS.get(name)
    if model is not None:
        return model(interp, call)
    first = arrays.as_array(interp, call.given(0, "a", call.given(0, "x", UNKNOWN)), call.frame)
    if first is None:
        return UNKNOWN
    if "out" in call.kwargs or "where" in call.kwargs:
        return UNKNOWN
    shape, dtype = arrays.shape_of(interp, first), first.spec.dtype
    asked = call.kwargs.get("dtype")
    if name in _UNARY_FLOAT:
        return arrays.make(shape, array_dtypes.dtype_of(asked) if asked is not None else array_dtypes.floating(dtype))
    if name in ("abs", "absolute", "real") and dtype is not None and dtype.startswith("complex"):
        return arrays.make(shape, {"complex64": "float32", "complex128": "float64"}[dtype])
    if name in _FLIPS:
        axes = call.given(1, "axis") if name == "flip" else _FLIPS[name]
        return arrays.flipped(interp, first, interp.resolved(axes))
    if name == "sort" and interp.resolved(call.given(1, "axis", -1)) is None:
        return _ravel(interp, call)
    if name in _UNARY_SAME:
        return arrays.make(shape, array_dtypes.dtype_of(asked) if asked is not None else dtype)
    if name in _UNARY_BOOL:
        return arrays.make(shape, "bool")
    if name in _REDUCTIONS:
        return _reduce(interp, name, first, call, 1)
    if name in _BINARY:
        right = call.args[1] if len(call.args) > 1 else UNKNOWN
        left: Value = call.first
        if not isinstance(left, Array) and array_dtypes.python_kind(interp.resolved(left)) is None:
            left = first
        return arrays.binary(interp, _BINARY[name], left, right, call.frame) if not is_unknown(right) else UNKNOWN
    return UNKNOWN


def _convert(interp: Interpreter, name: str, call: Arguments) -> Value:
    """``np.float32(value)``."""
    dtype = array_dtypes.dtype_of(name)
    value = call.args[0] if call.args else 0
    array = arrays.as_array(interp, value, call.frame)
    return scalars.converted(value, arrays.make(None if array is None else arrays.shape_of(interp, array), dtype))


def _asked(call: Arguments, position: int, default: str | None) -> str | None:
    value = call.given(position, "dtype")
    return default if value is None else array_dtypes.dtype_of(value)


def _array(interp: Interpreter, call: Arguments) -> Value:
    value = call.given(0, "object", call.given(0, "a"))
    array = arrays.as_array(interp, value, call.frame)
    if array is None:
        dtype = _asked(call, 1, None)
        return UNKNOWN if dtype is None else arrays.make(None, dtype)
    made = arrays.make(arrays.shape_of(interp, array), _asked(call, 1, array.spec.dtype))
    if array is not interp.resolved(value):  # else it may be the same memory
        made.slots["spread"] = array.slots["spread"] if made.spec.dtype == array.spec.dtype else None
    return made


def _filled(interp: Interpreter, call: Arguments) -> Value:
    return arrays.make(arrays.given_shape(interp, call.given(0, "shape"), call), _asked(call, 1, "float64"))


def _full(interp: Interpreter, call: Arguments) -> Value:
    value = arrays.as_array(interp, call.given(1, "fill_value"), call.frame)
    return arrays.make(
        arrays.given_shape(interp, call.given(0, "shape"), call), _asked(call, 2, value.spec.dtype if value else None)
    )


def _like(interp: Interpreter, call: Arguments) -> Value:
    array = arrays.as_array(interp, call.given(0, "a", call.given(0, "prototype")), call.frame)
    dtype = call.kwargs.get("dtype")
    if array is None:
        return UNKNOWN
    return arrays.make(
        arrays.shape_of(interp, array), array.spec.dtype if dtype is None else array_dtypes.dtype_of(dtype)
    )


def _eye(interp: Interpreter, call: Arguments) -> Value:
    rows = interp.resolved(call.given(0, "N", call.given(0, "n")))
    columns = interp.resolved(call.given(1, "M"))
    columns = rows if columns is None else columns
    dtype = call.kwargs.get("dtype")
    return arrays.make(sizes_of((rows, columns)), "float64" if dtype is None else array_dtypes.dtype_of(dtype))


def _arange(interp: Interpreter, call: Arguments) -> Value:
    values = [interp.resolved(value) for value in call.args[:3]]
    kinds = [array_dtypes.python_kind(value) for value in values]
    dtype = call.kwargs.get("dtype")
    natural = None if None in kinds else "float64" if "float" in kinds else "int64"
    name = natural if dtype is None else array_dtypes.dtype_of(dtype)
    size: Size = interp.fresh_size("?", positive=False)
    numbers, ends = numbers_of(values), sizes_of(values)
    if len(values) == 1 and is_int(values[0]):
        size = values[0]
    elif numbers and len(call.kwargs) <= (dtype is not None):
        start, stop, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
        if step:
            size = max(0, math.ceil((stop - start) / step))
    elif ends is not None and len(ends) == 2:
        size = dims.subtract(ends[1], ends[0])
    made = arrays.make((size,), name)
    whole = [number for number in numbers or () if isinstance(number, int)]
    if name == "int64" and type(size) is int and size > 0 and len(whole) == len(values):
        start, _, step = (0, *whole, 1) if len(whole) == 1 else (*whole, 1)[:3]
        last = start + (size - 1) * step
        made.slots["spread"] = Bounds(min(start, last), max(start, last))
    return made


def _linspace(interp: Interpreter, call: Arguments) -> Value:
    number = interp.resolved(call.given(2, "num", 50))
    ends = [
        arrays.as_array(interp, call.given(index, name), call.frame) for index, name in enumerate(("start", "stop"))
    ]
    if any(end is None or end.spec.shape != () for end in ends) or "retstep" in call.kwargs:
        return UNKNOWN
    dtype = call.kwargs.get("dtype")
    return arrays.make(
        (number,) if is_int(number) else (interp.fresh_size("?"),),
        "float64" if dtype is None else array_dtypes.dtype_of(dtype),
    )


def _arrays(interp: Interpreter, call: Arguments) -> tuple[list[Array], bool]:
    """The arrays of a sequence argument, none where they are not known, and whether those are all."""
    value = call.given(0, "arrays", call.given(0, "tup", call.given(0, "seq")))
    match value:
        case Array():
            iteration = arrays.iterate(interp, value)
        case tuple() | ListValue():
            iteration = interp.iterate(value, call.node, call.frame)
        case _:
            return [], False
    return _as_arrays(interp, call, iteration.items), iteration.exact


def _as_arrays(interp: Interpreter, call: Arguments, values: Sequence[Value]) -> list[Array]:
    """Values as arrays, none where one of them is not."""
    parts = [arrays.as_array(interp, value, call.frame) for value in values]
    known = [part for part in parts if part is not None]
    return known if len(known) == len(parts) else []


def _common_dtype(parts: Sequence[Array]) -> str | None:
    dtype: str | None = parts[0].spec.dtype
    for part in parts[1:]:
        dtype = array_dtypes.promoted(dtype, part.spec.dtype)
    return dtype


def _stack(interp: Interpreter, call: Arguments) -> Value:
    (parts, exact), axis = _arrays(interp, call), interp.resolved(call.given(1, "axis", 0))
    if not parts or not isinstance(axis, int):
        return UNKNOWN
    shapes = [arrays.shape_of(interp, part) for part in parts]
    shape = _one_shape(shapes)
    dtype = _common_dtype(parts)
    if shape is None:
        return arrays.make(None, dtype)
    axis = axis + len(shape) + 1 if axis < 0 else axis
    count: Size = len(parts) if exact else interp.fresh_size("?")
    return arrays.make((*shape[:axis], count, *shape[axis:]) if 0 <= axis <= len(shape) else None, dtype)


def _one_shape(shapes: Sequence[tuple[Size, ...] | None]) -> tuple[Size, ...] | None:
    """The shape of arrays that all have to have the same one; None where it is not known, or they have not."""
    first = shapes[0]
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    together = list(zip(*(shape for shape in shapes if shape is not None)))
    if any(dims.equal(sizes[0], size) is False for sizes in together for size in sizes):
        return None
    return tuple(next((size for size in sizes if isinstance(size, int)), sizes[0]) for sizes in together)


def _concatenate(interp: Interpreter, call: Arguments) -> Value:
    (parts, exact), axis = _arrays(interp, call), as_kind(interp.resolved(call.given(1, "axis", 0)), int)
    return _catenated(interp, parts, exact, axis) if parts and axis is not None else UNKNOWN


def _catenated(interp: Interpreter, parts: list[Array], exact: bool, axis: int) -> Value:
    dtype = _common_dtype(parts)
    shapes = [arrays.shape_of(interp, part) for part in parts]
    if not exact:
        shape = shapes[0]
        if shape is None or any(other != shape for other in shapes) or not is_index(axis, shape):
            return arrays.make(None, dtype)
        return arrays.make(
            tuple(interp.fresh_size("?") if i == axis % len(shape) else s for i, s in enumerate(shape)), dtype
        )
    known = [arrays.spec_of(shape) for shape in shapes if shape is not None]
    if len(known) != len(shapes) or len(known) > 64:
        return arrays.make(None, dtype)
    return arrays.make(arrays.asked_shape(interp, "torch.cat", ListSpec(tuple(known)), axis), dtype)


def _stacked(target: str) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        parts, exact = _arrays(interp, call)
        if not parts:
            return UNKNOWN
        dtype = _common_dtype(parts)
        shapes = [arrays.shape_of(interp, part) for part in parts]
        known = [arrays.spec_of(shape) for shape in shapes if shape is not None]
        if len(known) != len(shapes) or len(known) > 64:
            return arrays.make(None, dtype)
        if not exact:
            shape = shapes[0] or ()
            if any(other != shape for other in shapes) or target != "torch.vstack" or not shape:
                return arrays.make(None, dtype)
            return arrays.make((interp.fresh_size("?"), *(shape if len(shape) == 1 else shape[1:])), dtype)
        return arrays.make(arrays.asked_shape(interp, target, ListSpec(tuple(known))), dtype)

    return model


def _first(interp: Interpreter, call: Arguments) -> Array | None:
    value = call.given(
        0, "a", call.given(0, "x", call.given(0, "m", call.given(0, "arr", call.given(0, "A", UNKNOWN))))
    )
    return arrays.as_array(interp, value, call.frame)


def _with_shape(interp: Interpreter, array: Array, target: str, *args: Any) -> Value:
    shape = arrays.shape_of(interp, array)
    return arrays.make(
        None if shape is None else arrays.asked_shape(interp, target, arrays.spec_of(shape), *args), array.spec.dtype
    )


def _reshape(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    sizes = call.args[1:] if len(call.args) > 2 else call.given(1, "newshape", call.given(1, "shape"))
    wanted = arrays.given_shape(interp, sizes, call)
    if wanted is None:
        return arrays.make(None, array.spec.dtype)
    shape = arrays.shape_of(interp, array)
    if shape is None:
        return arrays.make(
            tuple(interp.fresh_size("?", positive=False) if size == -1 else size for size in wanted), array.spec.dtype
        )
    return arrays.make(arrays.asked_shape(interp, "Tensor.reshape", arrays.spec_of(shape), wanted), array.spec.dtype)


def _transpose(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    axes = call.args[1:] if len(call.args) > 2 else call.given(1, "axes")
    if shape is None:
        return arrays.make(None, array.spec.dtype)
    if axes is None:
        return arrays.make(shape[::-1], array.spec.dtype)
    order = arrays.given_shape(interp, axes, call)
    return arrays.make(None, array.spec.dtype) if order is None else _with_shape(interp, array, "Tensor.permute", order)


def _axis_change(target: str, *names: str) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        array = _first(interp, call)
        if array is None:
            return UNKNOWN
        values = [interp.resolved(call.given(index, name, UNKNOWN)) for index, name in enumerate(names, start=1)]
        if not all_are(values, int):
            return arrays.make(None, array.spec.dtype)
        return _with_shape(interp, array, target, *values)

    return model


def _squeeze(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    axis = interp.resolved(call.given(1, "axis"))
    if array is None:
        return UNKNOWN
    shape = array.spec.shape or ()
    squeezed = [shape[axis]] if is_index(axis, shape) else list(shape) if axis is None else []
    known = axis is None or isinstance(axis, int)
    if not known or any(dims.equal(interp.resolved(size), 1) is None for size in squeezed):
        return arrays.make(None, array.spec.dtype)
    return _with_shape(interp, array, "Tensor.squeeze", *(() if axis is None else (axis,)))


def _ravel(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    return arrays.make((interp.fresh_size("?") if shape is None else dims.product(shape),), array.spec.dtype)


def _at_least(rank: int) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        array = arrays.as_array(interp, call.args[0], call.frame) if len(call.args) == 1 else None
        if array is None:
            return UNKNOWN
        return _with_shape(interp, array, f"torch.atleast_{rank}d")

    return model


def _repeat(interp: Interpreter, call: Arguments) -> Value:
    array, times, axis = (
        _first(interp, call),
        interp.resolved(call.given(1, "repeats")),
        interp.resolved(call.given(2, "axis")),
    )
    if array is None:
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    if shape is None or not (axis is None or isinstance(axis, int)):
        return arrays.make(None, array.spec.dtype)
    if axis is None:
        shape, axis = (dims.product(shape),), 0
    if not is_index(axis, shape):
        return UNKNOWN
    grown: Size = dims.multiply(shape[axis], times) if is_int(times) else interp.fresh_size("?", positive=False)
    return arrays.make(
        tuple(grown if i == axis % len(shape) else size for i, size in enumerate(shape)), array.spec.dtype
    )


def _tile(interp: Interpreter, call: Arguments) -> Value:
    array, times = _first(interp, call), arrays.given_shape(interp, call.given(1, "reps"), call)
    if array is None:
        return UNKNOWN
    return arrays.make(None, array.spec.dtype) if times is None else _with_shape(interp, array, "torch.tile", times)


def _where(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) != 3:
        return UNKNOWN
    parts = [arrays.as_array(interp, value, call.frame) for value in call.args]
    if any(part is None for part in parts):
        return UNKNOWN
    shape = arrays.broadcast(interp, *(arrays.shape_of(interp, part) for part in parts if part is not None))
    value = arrays.binary(interp, "add", call.args[1], call.args[2], call.frame)
    ends = contained.chosen(*(interp.resolved(value) for value in call.args[1:]))
    if isinstance(value, Array):
        made = arrays.make(shape, value.spec.dtype)
        made.slots["ends"] = ends
        return made
    kinds = [array_dtypes.python_kind(interp.resolved(value)) for value in call.args[1:]]
    if None in kinds:
        return arrays.make(shape, None)
    made = arrays.make(
        shape, array_dtypes.promoted(*(array_dtypes.of_python(kind) for kind in kinds if kind is not None))
    )
    made.slots["ends"] = ends
    return made


def _pad(interp: Interpreter, call: Arguments) -> Value:
    array, width = _first(interp, call), call.given(1, "pad_width")
    if array is None:
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    if shape is None:
        return arrays.make(None, array.spec.dtype)
    width = interp.resolved(width)
    pairs: list[tuple[Size, ...]] = []
    if is_int(width):
        pairs = [(width, width)] * len(shape)
    elif isinstance(width, tuple | ListValue):
        items = interp.sequence(width, call.node, call.frame) or ()
        both = sizes_of(items) if len(items) == 2 else None
        if both is not None:
            pairs = [both] * len(shape)
        else:
            inner = [arrays.given_shape(interp, item, call) for item in items]
            pairs = [pair for pair in inner if pair is not None and len(pair) == 2]
            pairs = pairs * len(shape) if len(pairs) == 1 else pairs
    if len(pairs) != len(shape):
        return arrays.make(tuple(interp.fresh_size("?") for _ in shape), array.spec.dtype)
    return arrays.make(tuple(dims.add(size, dims.add(a, b)) for size, (a, b) in zip(shape, pairs)), array.spec.dtype)


def _dot(interp: Interpreter, call: Arguments) -> Value:
    one = arrays.as_array(interp, call.args[0], call.frame) if call.args else None
    two = arrays.as_array(interp, call.args[1], call.frame) if len(call.args) > 1 else None
    if one is None or two is None:
        return UNKNOWN
    if 0 in (one.spec.rank, two.spec.rank):
        return arrays.binary(interp, "mul", one, two, call.frame)
    if (two.spec.rank or 0) > 2:
        return UNKNOWN
    return arrays.product(interp, one, two)


def _outer(interp: Interpreter, call: Arguments) -> Value:
    parts = _as_arrays(interp, call, call.args[:2])
    shapes = [arrays.shape_of(interp, part) for part in parts]
    if len(parts) != 2 or any(shape is None for shape in shapes):
        return UNKNOWN
    sizes = tuple(dims.product(shape) for shape in shapes if shape is not None)
    return arrays.make(sizes, _common_dtype(parts))


def _indices(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is not None and interp.resolved(call.given(1, "axis", -1)) is None:
        array = as_kind(_ravel(interp, call), Array)
    return UNKNOWN if array is None else arrays.make(arrays.shape_of(interp, array), "int64")


def _running(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    axis = interp.resolved(call.given(1, "axis"))
    if array is None:
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    if axis is None and shape is not None:
        shape = (dims.product(shape),)
    return arrays.make(
        shape,
        array_dtypes.summed(array.spec.dtype)
        if "dtype" not in call.kwargs
        else array_dtypes.dtype_of(call.kwargs["dtype"]),
    )


def _diff(interp: Interpreter, call: Arguments) -> Value:
    array, axis = _first(interp, call), as_kind(interp.resolved(call.given(2, "axis", -1)), int)
    if array is None or call.given(1, "n", 1) != 1 or len(call.kwargs) > ("axis" in call.kwargs):
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    if not shape or not is_index(axis, shape):
        return arrays.make(None, array.spec.dtype)
    place = axis % len(shape)
    return arrays.make(tuple(dims.subtract(s, 1) if i == place else s for i, s in enumerate(shape)), array.spec.dtype)


def _text_table(interp: Interpreter, call: Arguments) -> Value:
    """The numbers of a text file, in one dimension or two."""
    asked = call.kwargs.get("dtype", "float64")
    if call.kwargs.keys() & {"names", "unpack"} or asked is None:
        return UNKNOWN
    dtype = array_dtypes.dtype_of(asked)
    return UNKNOWN if dtype is None else arrays.make(None, dtype)


def _from_bytes(interp: Interpreter, call: Arguments) -> Value:
    """The numbers that bytes, a file or an iterator hold, one after the other."""
    dtype = array_dtypes.dtype_of(call.given(1, "dtype", "float64"))
    count = interp.resolved(call.given(2, "count", -1))
    if dtype is None or not is_int(count):
        return UNKNOWN
    return arrays.make((interp.fresh_size("n") if count == -1 else count,), dtype)


def _sliding(interp: Interpreter, call: Arguments) -> Value:
    """Windows of each length along all axes, or along those that are told: their number there, and their elements at the end."""
    array, asked = _first(interp, call), interp.resolved(call.given(1, "window_shape"))
    shape = arrays.shape_of(interp, array) if array is not None else None
    window, axes = _sizes(interp, asked), interp.resolved(call.given(2, "axis", None))
    if array is None or shape is None or window is None:
        return UNKNOWN
    places = tuple(range(len(shape))) if axes is None else (axes,) if isinstance(axes, int) else tuple_of(axes)
    if len(places) != len(window) or not all(is_index(place, shape) for place in places):
        return arrays.make(None, array.spec.dtype)
    counts = list(shape)
    for place, size in zip(of_kind(places, int), window):
        counts[place] = dims.add(dims.subtract(counts[place], size), 1)
    return arrays.make((*counts, *window), array.spec.dtype)


def _sizes(interp: Interpreter, value: Value) -> tuple[Size, ...] | None:
    """A size, or several: as a tuple."""
    return sizes_of((value,) if is_int(value) else [interp.resolved(part) for part in items_of(value) or ()]) or None


def _unique(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None or len(call.args) > 1 or call.kwargs:
        return UNKNOWN
    return arrays.make((interp.fresh_size("?", positive=False),), array.spec.dtype)


def _meshgrid(interp: Interpreter, call: Arguments) -> Value:
    parts = [arrays.as_array(interp, value, call.frame) for value in call.args]
    shapes = [None if part is None else arrays.shape_of(interp, part) for part in parts]
    if not parts or any(shape is None or len(shape) != 1 for shape in shapes) or "sparse" in call.kwargs:
        return UNKNOWN
    sizes = [shape[0] for shape in shapes if shape]
    if call.kwargs.get("indexing", "xy") == "xy" and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return ListValue(tuple(arrays.make(tuple(sizes), part.spec.dtype) for part in parts if part is not None))


def _broadcast_to(interp: Interpreter, call: Arguments) -> Value:
    array = arrays.as_array(interp, call.given(0, "array"), call.frame)
    return (
        UNKNOWN
        if array is None
        else arrays.make(arrays.given_shape(interp, call.given(1, "shape"), call), array.spec.dtype)
    )


def _take(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None or call.given(2, "axis") != 0:
        return UNKNOWN
    return arrays.get_item(interp, array, call.given(1, "indices"), call.frame)


def _split(interp: Interpreter, call: Arguments) -> Value:
    array = arrays.as_array(interp, call.given(0, "ary"), call.frame)
    count, axis = (
        as_kind(interp.resolved(call.given(1, "indices_or_sections")), int),
        as_kind(interp.resolved(call.given(2, "axis", 0)), int),
    )
    if array is None or count is None or not 0 < count <= 64 or axis is None:
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    if not shape or not is_index(axis, shape):
        return UNKNOWN
    place = axis % len(shape)
    part = tuple(dims.floor_divide(s, count) if i == place else s for i, s in enumerate(shape))
    return ListValue(tuple(arrays.make(part, array.spec.dtype) for _ in range(count)))


def _append(interp: Interpreter, call: Arguments) -> Value:
    parts = _as_arrays(interp, call, call.args[:2])
    axis = as_kind(interp.resolved(call.given(2, "axis")), int)
    if len(parts) != 2:
        return UNKNOWN
    if axis is not None:
        return _catenated(interp, parts, True, axis)
    shapes = [arrays.shape_of(interp, part) for part in parts]
    if any(shape is None for shape in shapes):
        return arrays.make(None, _common_dtype(parts))
    sizes = [dims.product(shape) for shape in shapes if shape is not None]
    return arrays.make((dims.add(*sizes),), _common_dtype(parts))


def _like_first(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    return UNKNOWN if array is None else arrays.make(arrays.shape_of(interp, array), array.spec.dtype)


def _interpolated(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    return UNKNOWN if array is None else arrays.make(arrays.shape_of(interp, array), "float64")


def _counted(interp: Interpreter, call: Arguments) -> Value:
    """``bincount``: as many as the greatest number, or more; as many as are asked for where no number is greater."""
    first, least = as_kind(call.given(0, "x"), Array), as_kind(interp.resolved(call.given(2, "minlength", 0)), int)
    bounds = first.slots["bounds"] if first is not None else None
    enough = least is not None and bounds is not None and 0 <= bounds.low and bounds.high < least
    return arrays.make(
        (least if enough and least is not None else interp.fresh_size("?"),),
        "int64" if len(call.args) == 1 and "weights" not in call.kwargs else "float64",
    )


def _convolved(interp: Interpreter, call: Arguments) -> Value:
    parts = _as_arrays(interp, call, call.args[:2])
    shapes = [arrays.shape_of(interp, part) for part in parts]
    mode = call.given(2, "mode", "full")
    if len(shapes) != 2 or any(shape is None or len(shape) != 1 for shape in shapes):
        return UNKNOWN
    first, second = (shape[0] for shape in shapes if shape)
    long, short = dims.extremum("max", first, second), dims.extremum("min", first, second)
    both = dims.subtract(dims.add(long, short), 1)
    sizes = {"full": both, "same": long, "valid": dims.add(dims.subtract(long, short), 1)}
    return arrays.make((sizes[mode],), _common_dtype(parts)) if mode in sizes else UNKNOWN


def _einsum(interp: Interpreter, call: Arguments) -> Value:
    parts = _as_arrays(interp, call, call.args[1:])
    equation = as_kind(call.first, str)
    shapes = [arrays.shape_of(interp, part) for part in parts]
    if equation is None or not shapes or any(shape is None for shape in shapes) or call.kwargs:
        return UNKNOWN
    dtype = _common_dtype(parts)
    return arrays.make(
        arrays.asked_shape(
            interp, "torch.einsum", equation, *(arrays.spec_of(shape) for shape in shapes if shape is not None)
        ),
        dtype,
    )


def _spectrum(half: bool) -> Callable[[Interpreter, Arguments], Value]:
    """``fft`` and ``rfft`` over the last dimension."""

    def model(interp: Interpreter, call: Arguments) -> Value:
        array = _first(interp, call)
        shape = None if array is None else arrays.shape_of(interp, array)
        if not shape or len(call.args) > 1 or call.kwargs:
            return UNKNOWN
        return arrays.make(
            (*shape[:-1], dims.add(dims.floor_divide(shape[-1], 2), 1) if half else shape[-1]), "complex128"
        )

    return model


def _nothing(interp: Interpreter, call: Arguments) -> Value:
    return None


_FUNCTIONS: dict[str, Callable[[Interpreter, Arguments], Value]] = {
    "array": _array,
    "asarray": _array,
    "asanyarray": _array,
    "zeros": _filled,
    "ones": _filled,
    "empty": _filled,
    "full": _full,
    "zeros_like": _like,
    "ones_like": _like,
    "empty_like": _like,
    "full_like": _like,
    "eye": _eye,
    "identity": _eye,
    "arange": _arange,
    "linspace": _linspace,
    "logspace": _linspace,
    "geomspace": _linspace,
    "stack": _stack,
    "concatenate": _concatenate,
    "concat": _concatenate,
    "vstack": _stacked("torch.vstack"),
    "hstack": _stacked("torch.hstack"),
    "dstack": _stacked("torch.dstack"),
    "column_stack": _stacked("torch.column_stack"),
    "row_stack": _stacked("torch.vstack"),
    "reshape": _reshape,
    "transpose": _transpose,
    "permute_dims": _transpose,
    "expand_dims": _axis_change("Tensor.unsqueeze", "axis"),
    "swapaxes": _axis_change("Tensor.transpose", "axis1", "axis2"),
    "moveaxis": _axis_change("Tensor.movedim", "source", "destination"),
    "squeeze": _squeeze,
    "ravel": _ravel,
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "atleast_3d": _at_least(3),
    "repeat": _repeat,
    "tile": _tile,
    "where": _where,
    "pad": _pad,
    "dot": _dot,
    "matmul": _dot,
    "outer": _outer,
    "argsort": _indices,
    "digitize": _indices,
    "cumsum": _running,
    "cumprod": _running,
    "diff": _diff,
    "unique": _unique,
    "loadtxt": _text_table,
    "genfromtxt": _text_table,
    "frombuffer": _from_bytes,
    "fromfile": _from_bytes,
    "fromiter": _from_bytes,
    "lib.stride_tricks.sliding_window_view": _sliding,
    "meshgrid": _meshgrid,
    "broadcast_to": _broadcast_to,
    "take": _take,
    "split": _split,
    "append": _append,
    "tril": _like_first,
    "triu": _like_first,
    "interp": _interpolated,
    "bincount": _counted,
    "convolve": _convolved,
    "einsum": _einsum,
    "fft.fft": _spectrum(half=False),
    "fft.ifft": _spectrum(half=False),
    "fft.rfft": _spectrum(half=True),
    "set_printoptions": _nothing,
    "save": _nothing,
    "savez": _nothing,
    "savetxt": _nothing,
    "seterr": _nothing,
}


def _reduce(interp: Interpreter, name: str, array: Array, call: Arguments, first: int) -> Value:
    """A reduction; `first`: the position of ``axis`` among the arguments."""
    axis = interp.resolved(call.given(first, "axis"))
    keep = call.kwargs.get("keepdims", False)
    dtype = array.spec.dtype
    if name in ("argmax", "argmin", "count_nonzero"):
        dtype = "int64"
    elif name in ("any", "all"):
        dtype = "bool"
    elif name in ("sum", "prod", "nansum"):
        dtype = array_dtypes.summed(dtype)
    elif name in ("mean", "std", "var", "median", "nanmean", "nanstd", "nanvar", "nanmedian", "average"):
        floating = (
            dtype is not None and dtype in array_dtypes.NUMERIC and array_dtypes.kind_of(dtype) in ("float", "complex")
        )
        dtype = dtype if floating or dtype is None else "float64"
    if name == "average" and (len(call.args) > first + 1 or "weights" in call.kwargs):
        dtype = None
    if "dtype" in call.kwargs:
        dtype = array_dtypes.dtype_of(call.kwargs["dtype"])
    shape = arrays.shape_of(interp, array)
    if axis is None:
        return arrays.make(() if keep is False else None if shape is None else (1,) * len(shape), dtype)
    axes = arrays.given_shape(interp, axis, call)
    if shape is None or axes is None or not isinstance(keep, bool):
        return arrays.make(None, dtype)
    if not all(is_index(place, shape) for place in axes):
        return UNKNOWN
    places = {int(place) % len(shape) for place in of_kind(axes, int)}
    if keep:
        return arrays.make(tuple(1 if index in places else size for index, size in enumerate(shape)), dtype)
    return arrays.make(tuple(size for index, size in enumerate(shape) if index not in places), dtype)


def _linalg(interp: Interpreter, name: str, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    if name == "norm":
        axis = call.given(2, "axis")
        kept = array_dtypes.floating(array.spec.dtype)
        if axis is None and "keepdims" not in call.kwargs:
            return arrays.make((), kept)
        value = as_kind(_reduce(interp, "max", array, call, 2), Array)
        return arrays.make(value.spec.shape, kept) if value is not None else UNKNOWN
    if name in ("inv", "pinv", "cholesky"):
        return arrays.make(
            arrays.shape_of(interp, array) if name != "pinv" else None, array_dtypes.floating(array.spec.dtype)
        )
    return UNKNOWN


def _random(interp: Interpreter, name: str, call: Arguments) -> Value:
    site = interp.site(call.node, call.frame)
    if name == "default_rng":
        return LibraryObject("numpy.random.Generator", call.args, call.kwargs, site)
    if name in ("RandomState", "Generator"):
        return LibraryObject(f"numpy.random.{name}", call.args, call.kwargs, site)
    return draw(interp, name, call)


def draw(interp: Interpreter, name: str, call: Arguments) -> Value:
    """A function of ``numpy.random``, or a method of a generator."""
    if not call.exact:
        return UNKNOWN
    if name in ("seed", "shuffle"):
        return None
    if name in ("rand", "randn"):
        return arrays.make(sizes_of(map(interp.resolved, call.args)), "float64")
    if name in ("randint", "integers", "random_integers"):
        value = call.given(2, "size")
        dtype = _asked(call, 3, "int64")
        ends = [call.given(index, key) for index, key in enumerate(("low", "high"))]
        drawn = _drawn(interp, value, dtype, [end for end in ends if end is not None], call)
        bounds = integers.of_draw(interp, name, call)
        if isinstance(drawn, Array):
            drawn.slots["bounds"] = bounds
        if not is_int(drawn):
            return drawn
        low, high = (draws.plain_number(interp, interp.resolved(end)) for end in ends)
        low, high = (0, low) if high is None else (low, high)
        if (
            bounds is None
            and is_int(low)
            and is_int(high)
            and name != "random_integers"
            and "endpoint" not in call.kwargs
        ):
            return draws.drawn_between(interp, low, dims.subtract(high, 1))
        return draws.draw(interp, bounds.low, bounds.high) if bounds is not None else drawn
    if name in _DRAWS:
        count = _PARAMETERS_BEFORE_SIZE[name]
        value = call.given(count, "size")
        given = [*call.args[:count], *(item for key, item in call.kwargs.items() if key not in ("size", "dtype"))]
        dtype = "int64" if name in _INTEGER_DRAWS else _asked(call, count + 1, "float64")
        return _drawn(interp, value, dtype, given, call)
    if name == "permutation":
        value = interp.resolved(call.given(0, "x"))
        if is_int(value):
            return arrays.make((value,), "int64")
        array = arrays.as_array(interp, value, call.frame)
        return UNKNOWN if array is None else arrays.make(arrays.shape_of(interp, array), array.spec.dtype)
    if name == "choice":
        return _choice(interp, call)
    if name == "multivariate_normal":
        mean = arrays.as_array(interp, call.given(0, "mean"), call.frame)
        size = call.given(2, "size")
        before = () if size is None else arrays.given_shape(interp, size, call)
        shape = None if mean is None else arrays.shape_of(interp, mean)
        return arrays.make(None if shape is None or before is None else (*before, *shape), "float64")
    return UNKNOWN


def _drawn(interp: Interpreter, size: Value, dtype: str | None, given: list[Value], call: Arguments) -> Value:
    """Numbers drawn: of the asked size, or of the common shape of the parameters."""
    if size is not None:
        return arrays.make(arrays.given_shape(interp, size, call), dtype)
    shapes: list[Shape] = []
    for value in given:
        array = arrays.as_array(interp, value, call.frame)
        shapes.append(None if array is None else arrays.shape_of(interp, array))
    if any(shape != () for shape in shapes):
        return arrays.make(arrays.broadcast(interp, *shapes), dtype)
    if dtype == "float64":
        return Scalar("float")
    return interp.fresh_size("?", positive=False) if dtype == "int64" else arrays.make((), dtype)


def _choice(interp: Interpreter, call: Arguments) -> Value:
    source, size = interp.resolved(call.given(0, "a")), call.given(1, "size")
    array = arrays.make((source,), "int64") if is_int(source) else arrays.as_array(interp, source, call.frame)
    if array is None:
        return UNKNOWN
    shape = arrays.shape_of(interp, array)
    if not shape:
        return UNKNOWN
    if size is None:
        return arrays.make(shape[1:], array.spec.dtype)
    asked = arrays.given_shape(interp, size, call)
    drawn = arrays.make(None if asked is None else (*asked, *shape[1:]), array.spec.dtype)
    weights = interp.resolved(call.given(3, "p"))
    weights = opened(weights)
    if isinstance(source, int) and (weights is None or (isinstance(weights, tuple) and 0 not in weights)):
        drawn.slots["bounds"] = Bounds(0, source - 1, anywhere=True)
    given = items_of(source)
    if given and all(
        isinstance(one, str) and re.fullmatch(r"[A-Za-z][A-Za-z _-]*", one) and one.lower() not in _NOT_WORDS
        for one in given
    ):
        drawn.slots["words"] = True
    return drawn


_NOT_WORDS = frozenset("nan na null none true false inf infinity n/a".split())
"""Words that are read from a file as something else than text."""


# -- methods of arrays -----------------------------------------------------------------------------


class ArrayMethods(Model):
    """The attributes and methods of a NumPy array."""

    value: Array

    def get(self, node: ast.AST, frame: Frame) -> Value:
        found = self.attributes.get(self.name)
        return Bound(self.value, self.name) if found is None else found(self, node, frame)

    @property
    def sizes(self) -> Shape:
        """The shape, None where it is not known."""
        return arrays.shape_of(self.interp, self.value)

    @attribute
    def shape(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN if self.sizes is None else self.sizes

    @attribute
    def ndim(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN if self.sizes is None else len(self.sizes)

    @attribute
    def size(self, node: ast.AST, frame: Frame) -> Value:
        return self.interp.fresh_size("?", positive=False) if self.sizes is None else dims.product(self.sizes)

    @attribute
    def dtype(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN if self.value.spec.dtype is None else Native(f"numpy.{self.value.spec.dtype}", "external")

    @attribute("T")
    def transposed(self, node: ast.AST, frame: Frame) -> Value:
        shape, axes = self.sizes, self.value.slots["mirrored"]
        turned = arrays.make(None if shape is None else shape[::-1], self.value.spec.dtype)
        known = shape is not None and axes is not None
        turned.slots["ends"] = contained.of(self.value)
        turned.slots["mirrored"] = frozenset(len(shape) - 1 - axis for axis in axes) if known and shape else None
        return contents.turned(self.value, turned)

    @attribute("real", "imag")
    def part(self, node: ast.AST, frame: Frame) -> Value:
        dtype = self.value.spec.dtype
        return arrays.make(self.sizes, {"complex64": "float32", "complex128": "float64"}.get(dtype or "", dtype))

    @attribute
    def strides(self, node: ast.AST, frame: Frame) -> Value:
        found = contents.strides(self.value)
        return UNKNOWN if found is None else found

    @attribute
    def base(self, node: ast.AST, frame: Frame) -> Value:
        return contents.base(self.value)

    @attribute
    def itemsize(self, node: ast.AST, frame: Frame) -> Value:
        dtype = self.value.spec.dtype
        return array_dtypes.described(dtype, "itemsize") if dtype in array_dtypes.NUMERIC and dtype else UNKNOWN

    @attribute("flat", "nbytes", "flags", "ctypes", "data")
    def not_modelled(self, node: ast.AST, frame: Frame) -> Value:
        if self.name in ("flat", "ctypes", "data"):
            contents.forget(self.interp, (self.value,))  # It may be written through these.
        return UNKNOWN

    def run(self, call: Arguments) -> Value:
        value = super().run(call) if call.exact else UNKNOWN
        value = contents.method(self.interp, self.value, self.name, call, value)
        return arrays.of_operands(contained.kept(self.interp, self.name, (self.value,), value), self.value, *call.args)

    @method("astype", "view")
    def converted(self, call: Arguments) -> Value:
        if not call.args:
            return Array(self.value.spec) if self.name == "view" and call.exact and not call.kwargs else UNKNOWN
        same = self.name == "astype"
        converted = arrays.make(self.sizes if same else None, array_dtypes.dtype_of(call.given(0, "dtype")))
        for slot in ("bounds", "element"):
            converted.slots[slot] = self.value.slots.get(slot) if same else None
        arrays.keep_numbered(self.value, converted)
        scalars.converted(self.value if same else None, converted)
        ends, dtype = contained.of(self.value), converted.spec.dtype
        converted.slots["ends"] = ends if same and dtype != "bool" and contained.fits(ends, dtype) else None
        return converted

    @method("item")
    def number(self, call: Arguments) -> Value:
        if (known := scalars.of(self.value)) is not None:
            return known
        if not call.args and (held := contents.number(self.value)) is not None:
            return held
        dtype = self.value.spec.dtype
        kind = array_dtypes.kind_of(dtype) if dtype in array_dtypes.NUMERIC else ""
        if kind in ("int", "uint"):
            return draws.number(self.interp, self.value)
        return Scalar(kind) if kind in ("float", "bool") else UNKNOWN

    @method
    def tolist(self, call: Arguments) -> Value:
        known = contents.listed(self.value)
        return _listed(self.interp, self.value) if is_unknown(known) else known

    @method
    def resize(self, call: Arguments) -> Value:
        """The array gets another shape, and zeros where it grows."""
        sizes = call.args[0] if len(call.args) == 1 else call.args
        arrays.set_attribute(self.interp, self.value, "shape", sizes)
        return None

    @method("fill", "sort", "setflags", "tofile", "partition", "put")
    def in_place(self, call: Arguments) -> Value:
        self.interp.heap.set(self.value.slots, "ends", None)
        self.interp.heap.set(self.value.slots, "spread", None)
        return None

    @method("round", "clip", "conj", "conjugate", "copy")
    def alike(self, call: Arguments) -> Value:
        return arrays.make(self.sizes, self.value.spec.dtype)

    def other(self, call: Arguments) -> Value:
        """A function of NumPy of the same name."""
        name = "ravel" if self.name == "flatten" else self.name
        if name in _METHODS_AS_FUNCTIONS:
            model = _FUNCTIONS.get(name)
            whole = Arguments((self.value, *call.args), call.kwargs, call.node, call.frame)
            return UNKNOWN if model is None else model(self.interp, whole)
        if name in _REDUCTIONS and "out" not in call.kwargs and "where" not in call.kwargs:
            return _reduce(self.interp, name, self.value, call, 0)
        return UNKNOWN


def _listed(interp: Interpreter, array: Array) -> Value:
    """``array.tolist()``: numbers, or lists of them."""
    shape = arrays.shape_of(interp, array)
    if shape is None or array.spec.dtype not in array_dtypes.NUMERIC:
        return UNKNOWN
    if not shape:
        return arrays.plain(interp, array)
    count = as_kind(dims.product(shape), int)
    if count is not None and isinstance(shape[0], int) and count <= MAX_LISTED:
        elements = (arrays.element_of(interp, array, shape[1:], index) for index in range(shape[0]))
        return ListValue(tuple(_listed(interp, one) if isinstance(one, Array) else one for one in elements))
    return ListValue(Several((_listed(interp, arrays.make(shape[1:], array.spec.dtype)),)))

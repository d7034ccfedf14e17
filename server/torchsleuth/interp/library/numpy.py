"""NumPy: arrays by shape and dtype, with its own promotion; where shapes are concerned, the oracle is asked."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchsleuth.interp.frames import Frame
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import draws, integers
from torchsleuth.interp.values import (
    UNKNOWN,
    Array,
    Bound,
    Image,
    LibraryObject,
    ListValue,
    Origin,
    Scalar,
    Several,
    SliceValue,
    Tensor,
    Value,
    is_int,
)
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, DType, ListSpec, Native, Result, TensorSpec

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter

Shape = tuple[Size, ...] | None

_INTEGERS = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_NUMERIC = ("bool", *_INTEGERS, *_UNSIGNED, *_FLOATS, *_COMPLEX)
TEXT = frozenset({"str", "object"})
_ALIASES = {
    "float": "float64", "double": "float64", "single": "float32", "half": "float16", "int": "int64", "bool_": "bool",
    "long": "int64", "longlong": "int64", "uint": "uint64", "intp": "int64", "int_": "int64", "float_": "float64",
    "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32",
    "cdouble": "complex128", "csingle": "complex64", "complex": "complex128", "str_": "str", "object_": "object",
    "f": "float32", "d": "float64", "f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16",
    "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "i": "int32",
    "l": "int64", "e": "float16", "b": "int8", "B": "uint8", "?": "bool",
}  # fmt: skip
_UNARY_FLOAT = frozenset(
    "sqrt exp log log2 log10 log1p expm1 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt "
    "deg2rad rad2deg radians degrees exp2 sinc i0 reciprocal".split()
)
_UNARY_SAME = frozenset(
    "abs absolute negative positive square sign floor ceil round around rint trunc fabs conj conjugate nan_to_num "
    "ascontiguousarray copy sort flip fliplr flipud roll clip invert real".split()
)
_UNARY_BOOL = frozenset("isnan isinf isfinite logical_not signbit isneginf isposinf".split())
_BINARY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv", "power": "pow",
    "maximum": "max", "minimum": "min", "mod": "mod", "remainder": "mod", "floor_divide": "floordiv", "hypot": "truediv",
    "arctan2": "truediv", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "equal": "eq",
    "not_equal": "ne", "logical_and": "lt", "logical_or": "lt", "logical_xor": "lt", "fmax": "max", "fmin": "min",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "isclose": "lt",
}  # fmt: skip
_REDUCTIONS = frozenset(
    "sum mean std var max min amax amin prod median nanmean nansum nanstd nanvar nanmax nanmin any all argmax argmin "
    "ptp nanmedian count_nonzero average".split()
)
_COMPARISONS = frozenset("eq ne lt le gt ge".split())
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
MAX_ELEMENTS = 256
"""Elements of an array that a loop sees one by one."""
MAX_LISTED = 4096
"""Numbers of an array that its list shows one by one."""
GENERATORS = ("numpy.random.Generator", "numpy.random.RandomState")


# -- dtypes ----------------------------------------------------------------------------------------


def dtype_of(value: Value) -> str | None:
    """The name of the dtype that a ``dtype=`` argument means, None where that is not known."""
    if isinstance(value, Native):
        value = value.path.removeprefix("numpy.").removeprefix("builtins.")
    if isinstance(value, str):
        name = value.lstrip("<>=|")
        name = _ALIASES.get(name, name)
        return name if name in _NUMERIC or name in TEXT else None
    return None


def _bits(dtype: str) -> int:
    return 1 if dtype == "bool" else int("".join(letter for letter in dtype if letter.isdigit()))


def _kind(dtype: str) -> str:
    return "bool" if dtype == "bool" else dtype.rstrip("0123456789")


def promoted(left: str | None, right: str | None) -> str | None:
    """NumPy's result dtype of two array dtypes."""
    if left is None or right is None:
        return None
    if left == right:
        return left
    if left not in _NUMERIC or right not in _NUMERIC:
        return None
    kinds = (_kind(left), _kind(right))
    if "bool" in kinds:
        return right if kinds[0] == "bool" else left
    if kinds[0] == kinds[1]:
        return max(left, right, key=_bits)
    if "complex" in kinds or "float" in kinds:
        wanted = 0
        for dtype, kind in zip((left, right), kinds):
            bits = _bits(dtype)
            if kind == "complex":
                wanted = max(wanted, bits // 2)
            elif kind == "float":
                wanted = max(wanted, bits)
            else:
                wanted = max(wanted, 16 if bits == 8 else 32 if bits == 16 else 64)
        return f"complex{max(wanted, 32) * 2}" if "complex" in kinds else f"float{wanted}"
    signed, unsigned = (left, right) if kinds[0] == "int" else (right, left)
    if _bits(signed) > _bits(unsigned):
        return signed
    return "float64" if _bits(unsigned) == 64 else f"int{_bits(unsigned) * 2}"


def _floating(dtype: str | None) -> str | None:
    """The result dtype of sqrt and its like."""
    if dtype is None or dtype not in _NUMERIC:
        return None
    if _kind(dtype) in ("float", "complex"):
        return dtype
    return {1: "float16", 8: "float16", 16: "float32"}.get(_bits(dtype), "float64")


def _summed(dtype: str | None) -> str | None:
    if dtype is None or dtype not in _NUMERIC:
        return None
    return {"bool": "int64", "int": "int64", "uint": "uint64"}.get(_kind(dtype), dtype)


def _python_kind(value: Value) -> str | None:
    """What kind of number a Python scalar is: bool, int, float or complex."""
    if isinstance(value, bool) or value == Scalar("bool"):
        return "bool"
    if is_int(value):
        return "int"
    if isinstance(value, float) or value == Scalar("float"):
        return "float"
    return "complex" if isinstance(value, complex) else None


def _weak(dtype: str | None, kind: str) -> str | None:
    """The result dtype of an array and a Python scalar."""
    if dtype is None or dtype not in _NUMERIC:
        return None
    own = _kind(dtype)
    if kind == "bool" or own == "complex" or (kind == "int" and own != "bool"):
        return dtype
    if kind == "int":
        return "int64"
    if kind == "float":
        return dtype if own == "float" else "float64"
    return {"float16": "complex64", "float32": "complex64"}.get(dtype, "complex128")


def _of_python(kind: str) -> str:
    return {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}[kind]


# -- making arrays ---------------------------------------------------------------------------------


def make(shape: Shape, dtype: str | None) -> Array:
    return Array(TensorSpec(shape, dtype, CPU, False))


def _shape_of(interp: Interpreter, array: Array) -> Shape:
    return interp.resolved_spec(array.spec).shape


def _ask(interp: Interpreter, target: str, *args: Any, **kwargs: Any) -> Shape:
    """The shape that a torch operator gives for operands of these shapes; None where it is not decided."""
    outcome = interp.oracle.call(target, args, kwargs, interp.fresh_symbol, False)
    if not isinstance(outcome, Result) or not isinstance(outcome.value, TensorSpec):
        return None
    for fact in outcome.facts:
        interp.learn(fact)
    return outcome.value.shape


def _spec(shape: tuple[Size, ...]) -> TensorSpec:
    return TensorSpec(shape, "float32")


def _broadcast(interp: Interpreter, *shapes: Shape) -> Shape:
    result: Shape = ()
    for shape in shapes:
        if shape is None or result is None:
            return None
        result = (
            shape if not result else result if not shape else _ask(interp, "operator.add", _spec(result), _spec(shape))
        )
    return result


def _size(interp: Interpreter, value: Value, call: Arguments) -> Shape:
    """A shape argument: a size, or a sequence of sizes."""
    value = plain(interp, value)
    if is_int(value):
        return (value,)
    if isinstance(value, tuple | ListValue):
        items = tuple(plain(interp, item) for item in interp.sequence(value, call.node, call.frame) or (None,))
        if all(is_int(item) for item in items):
            return items
    return None


def plain(interp: Interpreter, value: Value) -> Value:
    """The Python number that a scalar of NumPy's is as good as."""
    value = interp.resolved(value)
    if not isinstance(value, Array) or _shape_of(interp, value) != () or value.spec.dtype not in _NUMERIC:
        return value
    kind = _kind(value.spec.dtype or "")
    if kind in ("int", "uint"):
        return draws.number(interp, value)
    return Scalar(kind) if kind in ("float", "bool") else value


def as_array(interp: Interpreter, value: Value, frame: Frame, depth: int = 6) -> Array | None:
    """What ``np.asarray(value)`` is, None where nothing is known."""
    value = interp.resolved(value)
    if isinstance(value, Array):
        return value
    if isinstance(value, Tensor):
        spec = interp.resolved_spec(value.spec)
        return make(spec.shape, spec.dtype if spec.dtype in _NUMERIC else None)
    if isinstance(value, Image):
        return _of_image(interp, value)
    kind = _python_kind(value)
    if kind is not None:
        return make((), _of_python(kind))
    if isinstance(value, str) or value == Scalar("str"):
        return make((), "str")
    if not isinstance(value, tuple | ListValue) or depth == 0:
        return None
    if isinstance(value, ListValue) and value.type_name in ("set", "generator"):
        return None
    iteration = interp.iterate(value, ast.Pass(), frame)
    if any(isinstance(item, Tensor) for item in iteration.items):
        return None
    return joined(interp, iteration, lambda item: as_array(interp, item, frame, depth - 1))


def _of_image(interp: Interpreter, image: Image) -> Array:
    """The pixels of a PIL image: height, width, and channels unless it is grey."""
    if image.channels is None:
        return make(None, "uint8")
    sizes = tuple(interp.fresh_size("?") if size is None else size for size in (image.height, image.width))
    return make(sizes if image.channels == 1 else (*sizes, image.channels), "uint8")


def joined(interp: Interpreter, iteration: Iteration, convert: Callable[[Value], Array | None]) -> Array | None:
    """The array of all elements: their count, then the shape that they have in common."""
    count = iteration.count
    if count is None or iteration.exact:
        count = len(iteration.items) if iteration.exact else interp.fresh_size("n")
    if iteration.exact and not iteration.items:
        return make((0,), "float64")
    first: Array | None = None
    seen: set[int] = set()
    for item in iteration.items:
        if id(item) in seen:
            continue
        seen.add(id(item))
        part = convert(item)
        if part is None:
            return None
        if first is None:
            first = part
            continue
        one, two = first.spec, part.spec
        shape = _in_common(one.shape, two.shape)
        if shape is None:
            return None
        first = make(shape, promoted(one.dtype, two.dtype))
    if first is None or first.spec.shape is None:
        return None if first is None else make(None, first.spec.dtype)
    return make((count, *first.spec.shape), first.spec.dtype)


def _in_common(left: Shape, right: Shape) -> Shape:
    """The shape of two elements of one array, None where they differ or are not known."""
    if left is None or right is None or len(left) != len(right):
        return None
    if any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(left, right)):
        return None
    return tuple(a if isinstance(a, int) else b if isinstance(b, int) else a for a, b in zip(left, right))


def to_tensor(interp: Interpreter, array: Array, dtype: str | None = None) -> Tensor:
    """The torch tensor that shares the array's memory, or a copy of it in another dtype."""
    spec = interp.resolved_spec(array.spec)
    own = spec.dtype if spec.dtype in _NUMERIC else None
    return Tensor(TensorSpec(spec.shape, dtype or own, CPU, False), None, frozenset({array.slots["bounds"]} - {None}))


_LEGACY = {"Tensor": "float32", "FloatTensor": "float32", "LongTensor": "int64", "DoubleTensor": "float64",
           "IntTensor": "int32", "BoolTensor": "bool", "ByteTensor": "uint8"}  # fmt: skip
_CONVERTERS = frozenset({"from_numpy", "tensor", "as_tensor", "asarray", *_LEGACY})


def tensor_from(interp: Interpreter, path: str, call: Arguments) -> Tensor | None:
    """``torch.from_numpy(array)``, ``torch.tensor(array)`` and their like; None for anything but arrays."""
    name = path.removeprefix("torch.")
    value = call.get(0, "data", call.get(0, "obj", call.get(0, "ndarray")))
    if name not in _CONVERTERS or not isinstance(value, Array | tuple | ListValue):
        return None
    if not isinstance(value, Array):
        items = value.items if isinstance(value, ListValue) else value
        if not any(isinstance(item, Array) for item in items or ()):
            return None
    array = as_array(interp, value, call.frame)
    if array is None:
        return Tensor(UNKNOWN_TENSOR)
    asked = call.kwargs.get("dtype")
    dtype = _LEGACY.get(name)
    if isinstance(asked, DType):
        dtype = asked.name
    spec = to_tensor(interp, array, dtype).spec
    if asked is not None and not isinstance(asked, DType):
        spec = spec.with_(dtype=None)
    if "device" in call.kwargs:
        from torchsleuth.interp.expressions import device_of

        spec = spec.with_(device=device_of(call.kwargs["device"]))
    if name in _LEGACY and spec.shape == ():
        spec = spec.with_(shape=None)
    grad = call.kwargs.get("requires_grad", False)
    spec = spec.with_(requires_grad=grad if isinstance(grad, bool) else None)
    tags = frozenset({array.slots["bounds"]} - {None})
    return Tensor(spec, Origin(interp.site(call.node, call.frame), path), tags)


# -- attributes and items --------------------------------------------------------------------------


def attribute(interp: Interpreter, owner: Array, name: str) -> Value:
    shape = _shape_of(interp, owner)
    if name == "shape":
        return UNKNOWN if shape is None else shape
    if name == "ndim":
        return UNKNOWN if shape is None else len(shape)
    if name == "size":
        return interp.fresh_size("?", positive=False) if shape is None else dims.product(shape)
    if name == "dtype":
        return UNKNOWN if owner.spec.dtype is None else Native(f"numpy.{owner.spec.dtype}", "external")
    if name == "T":
        return make(None if shape is None else shape[::-1], owner.spec.dtype)
    if name in ("real", "imag"):
        dtype = {"complex64": "float32", "complex128": "float64"}.get(owner.spec.dtype or "", owner.spec.dtype)
        return make(shape, dtype)
    if name in ("flat", "nbytes", "itemsize", "strides", "base", "flags", "ctypes", "data"):
        return UNKNOWN
    return Bound(owner, name)


def length(interp: Interpreter, array: Array) -> Size | None:
    shape = _shape_of(interp, array)
    return shape[0] if shape else None


def iterate(interp: Interpreter, array: Array) -> Iteration:
    shape = _shape_of(interp, array)
    if not shape:
        return Iteration((UNKNOWN,), exact=False)
    if isinstance(shape[0], int) and shape[0] <= MAX_ELEMENTS:
        return Iteration(tuple(_element(interp, array, shape[1:], index) for index in range(shape[0])), exact=True)
    return Iteration((Array(TensorSpec(shape[1:], array.spec.dtype, CPU, False), array.slots["bounds"]),), exact=False)


def _element(interp: Interpreter, array: Array, shape: tuple[Size, ...], index: int) -> Array:
    element = Array(TensorSpec(shape, array.spec.dtype, CPU, False), array.slots["bounds"])
    draws.mark(array, index, element, interp)
    return element


def get_item(interp: Interpreter, array: Array, key: Value, frame: Frame) -> Value:
    shape = _shape_of(interp, array)
    if shape is None:
        return UNKNOWN
    found = _indexed(interp, shape, key if isinstance(key, tuple) else (key,), frame)
    if found is None:
        return UNKNOWN
    element = Array(TensorSpec(found, array.spec.dtype, CPU, False), array.slots["bounds"])
    return draws.mark(array, interp.resolved(key), element, interp)


def _indexed(interp: Interpreter, shape: tuple[Size, ...], keys: tuple[Value, ...], frame: Frame) -> Shape:
    """The shape of an indexed array; None where it is not known."""
    parts = [_index_array(interp, key, frame) for key in keys]
    if any(part is UNKNOWN for part in parts):
        return None
    used = sum(_consumed(part) for part in parts)
    if used > len(shape):
        return None
    if not any(part is ... for part in parts):
        parts.append(...)
    result: list[Size] = []
    advanced: list[tuple[int, Shape]] = []
    position = 0
    for part in parts:
        if part is ...:
            rest = len(shape) - used
            result += shape[position : position + rest]
            position += rest
        elif part is None:
            result.append(1)
        elif isinstance(part, SliceValue):
            size = _sliced(interp, shape[position], part)
            if size is None:
                return None
            result.append(size)
            position += 1
        elif isinstance(part, Array):
            own = part.spec.shape
            if own is None:
                return None
            mask = part.spec.dtype == "bool"
            advanced.append((len(result), (interp.fresh_size("?", positive=False),) if mask else own))
            position += len(own) if mask else 1
        else:
            position += 1
    if not advanced:
        return tuple(result)
    joined_shape = _broadcast(interp, *(own for _, own in advanced)) if len(advanced) > 1 else advanced[0][1]
    places = {place for place, _ in advanced}
    if joined_shape is None or len(places) > 1:
        return None
    place = advanced[0][0]
    return (*result[:place], *joined_shape, *result[place:])


def _index_array(interp: Interpreter, key: Value, frame: Frame) -> Value:
    """An index as it is used: a number, a slice, None, an ellipsis, or an array; unknown for anything else."""
    key = interp.resolved(key)
    if key is None or key is ... or isinstance(key, SliceValue) or is_int(key):
        return key
    if isinstance(key, Scalar | bool) or key is UNKNOWN:
        return UNKNOWN
    array = as_array(interp, key, frame)
    if array is None or array.spec.dtype is None:
        return UNKNOWN
    if array.spec.shape == () and array.spec.dtype != "bool":
        return 0
    return array if _kind(array.spec.dtype) in ("int", "uint", "bool") else UNKNOWN


def _consumed(part: Value) -> int:
    """How many dimensions an index uses up."""
    if isinstance(part, Array):
        return len(part.spec.shape or ()) if part.spec.dtype == "bool" else 1
    return 0 if part is None or part is ... else 1


def _sliced(interp: Interpreter, size: Size, part: SliceValue) -> Size | None:
    bounds = [interp.resolved(bound) for bound in (part.start, part.stop, part.step)]
    if any(bound is UNKNOWN or isinstance(bound, Scalar | Array) for bound in bounds):
        return interp.fresh_size("?", positive=False)
    if all(bound is None for bound in bounds[:2]) and bounds[2] in (None, 1, -1):
        return size
    if isinstance(size, int) and all(bound is None or isinstance(bound, int) for bound in bounds):
        try:
            return len(range(*slice(*bounds).indices(size)))
        except ValueError:
            return None
    if isinstance(bounds[2], int) and bounds[2] < 0:
        return interp.fresh_size("?", positive=False)
    from torchsleuth.tensors.spec import SliceSpec

    shape = _ask(interp, "operator.getitem", _spec((size,)), SliceSpec(*bounds))
    return shape[0] if shape else interp.fresh_size("?", positive=False)


# -- operators -------------------------------------------------------------------------------------


def of_operands(result: Value, *operands: Value) -> Value:
    """A result, with the place where its operands left the autograd graph."""
    cut = next((found for operand in operands if (found := left_graph(operand)) is not None), None)
    if isinstance(result, Array) and cut is not None:
        result.slots["cut"] = cut
    return Scalar(result.type, cut) if isinstance(result, Scalar) and cut is not None else result


def left_graph(value: Value, depth: int = 3) -> Any:
    """Where the numbers in a value left the autograd graph, None if they were never in one."""
    if isinstance(value, Array):
        return value.slots["cut"]
    if isinstance(value, Scalar):
        return value.cut
    items = value.elements or () if isinstance(value, ListValue) else value if isinstance(value, tuple) else ()
    return next((cut for item in items if depth and (cut := left_graph(item, depth - 1)) is not None), None)


def binary(interp: Interpreter, name: str, left: Value, right: Value, frame: Frame) -> Value:
    """An operator, where at least one side is an array."""
    sides = []
    kinds = []
    for value in (left, right):
        kinds.append(None if isinstance(value, Array) else _python_kind(interp.resolved(value)))
        sides.append(as_array(interp, value, frame) if not isinstance(value, Tensor) else None)
    one, two = sides
    if one is None or two is None:
        return UNKNOWN
    if name == "matmul":
        return _matmul(interp, one, two)
    shape = _broadcast(interp, _shape_of(interp, one), _shape_of(interp, two))
    if name in _COMPARISONS:
        return make(shape, "bool")
    if kinds[1] is not None:
        dtype = _weak(one.spec.dtype, kinds[1])
    elif kinds[0] is not None:
        dtype = _weak(two.spec.dtype, kinds[0])
    else:
        dtype = _strong(one, two)
    if name == "truediv" and dtype is not None and _kind(dtype) in ("bool", "int", "uint"):
        dtype = "float64"
    if dtype == "bool" and name not in ("and_", "or_", "xor", "add", "mul", "max", "min"):
        dtype = None
    return make(shape, dtype)


def _strong(one: Array, two: Array) -> str | None:
    """Before NumPy 2, an array without dimensions did not always count in promotion."""
    dtype = promoted(one.spec.dtype, two.spec.dtype)
    ranks = (one.spec.rank, two.spec.rank)
    if 0 in ranks and ranks != (0, 0):
        array = two if ranks[0] == 0 else one
        return dtype if dtype == array.spec.dtype else None
    return dtype


def unary(interp: Interpreter, name: str, value: Array) -> Value:
    return make(_shape_of(interp, value), value.spec.dtype)


def _matmul(interp: Interpreter, one: Array, two: Array) -> Value:
    shapes = (_shape_of(interp, one), _shape_of(interp, two))
    dtype = promoted(one.spec.dtype, two.spec.dtype)
    if shapes[0] is None or shapes[1] is None:
        return make(None, dtype)
    return make(_ask(interp, "operator.matmul", _spec(shapes[0]), _spec(shapes[1])), dtype)


# -- calls -----------------------------------------------------------------------------------------


def call(interp: Interpreter, path: str, call: Arguments) -> Value:
    """A call of ``numpy.…``."""
    if not call.exact:
        return UNKNOWN
    name = path.removeprefix("numpy.")
    if name.startswith("random."):
        return _random(interp, name.removeprefix("random."), call)
    if name.startswith("linalg."):
        return _linalg(interp, name.removeprefix("linalg."), call)
    if name == "dtype":
        known = dtype_of(call.get(0, "dtype"))
        return UNKNOWN if known is None else Native(f"numpy.{known}", "external")
    if name in _ALIASES or name in _NUMERIC:
        return _convert(interp, name, call)
    model = _FUNCTIONS.get(name)
    if model is not None:
        return model(interp, call)
    first = as_array(interp, call.get(0, "a", call.get(0, "x", UNKNOWN)), call.frame)
    if first is None:
        return UNKNOWN
    if "out" in call.kwargs or "where" in call.kwargs:
        return UNKNOWN
    shape, dtype = _shape_of(interp, first), first.spec.dtype
    asked = call.kwargs.get("dtype")
    if name in _UNARY_FLOAT:
        return make(shape, dtype_of(asked) if asked is not None else _floating(dtype))
    if name in ("abs", "absolute", "real") and dtype is not None and dtype.startswith("complex"):
        return make(shape, {"complex64": "float32", "complex128": "float64"}[dtype])
    if name in _UNARY_SAME:
        return make(shape, dtype_of(asked) if asked is not None else dtype)
    if name in _UNARY_BOOL:
        return make(shape, "bool")
    if name in _REDUCTIONS:
        return _reduce(interp, name, first, call, 1)
    if name in _BINARY:
        right = call.args[1] if len(call.args) > 1 else UNKNOWN
        left: Value = call.args[0] if call.args else UNKNOWN
        if not isinstance(left, Array) and _python_kind(interp.resolved(left)) is None:
            left = first
        return binary(interp, _BINARY[name], left, right, call.frame) if right is not UNKNOWN else UNKNOWN
    return UNKNOWN


def _convert(interp: Interpreter, name: str, call: Arguments) -> Value:
    """``np.float32(value)``."""
    dtype = dtype_of(name)
    value = call.args[0] if call.args else 0
    array = as_array(interp, value, call.frame)
    return make(None if array is None else _shape_of(interp, array), dtype)


def _asked(call: Arguments, position: int, default: str | None) -> str | None:
    value = call.get(position, "dtype")
    return default if value is None else dtype_of(value)


def _array(interp: Interpreter, call: Arguments) -> Value:
    value = call.get(0, "object", call.get(0, "a"))
    array = as_array(interp, value, call.frame)
    if array is None:
        dtype = _asked(call, 1, None)
        return UNKNOWN if dtype is None else make(None, dtype)
    return make(_shape_of(interp, array), _asked(call, 1, array.spec.dtype))


def _filled(interp: Interpreter, call: Arguments) -> Value:
    return make(_size(interp, call.get(0, "shape"), call), _asked(call, 1, "float64"))


def _full(interp: Interpreter, call: Arguments) -> Value:
    value = as_array(interp, call.get(1, "fill_value"), call.frame)
    return make(_size(interp, call.get(0, "shape"), call), _asked(call, 2, value.spec.dtype if value else None))


def _like(interp: Interpreter, call: Arguments) -> Value:
    array = as_array(interp, call.get(0, "a", call.get(0, "prototype")), call.frame)
    dtype = call.kwargs.get("dtype")
    if array is None:
        return UNKNOWN
    return make(_shape_of(interp, array), array.spec.dtype if dtype is None else dtype_of(dtype))


def _eye(interp: Interpreter, call: Arguments) -> Value:
    rows = interp.resolved(call.get(0, "N", call.get(0, "n")))
    columns = interp.resolved(call.get(1, "M"))
    columns = rows if columns is None else columns
    dtype = call.kwargs.get("dtype")
    known = is_int(rows) and is_int(columns)
    return make((rows, columns) if known else None, "float64" if dtype is None else dtype_of(dtype))


def _arange(interp: Interpreter, call: Arguments) -> Value:
    values = [interp.resolved(value) for value in call.args[:3]]
    kinds = [_python_kind(value) for value in values]
    dtype = call.kwargs.get("dtype")
    natural = None if None in kinds else "float64" if "float" in kinds else "int64"
    name = natural if dtype is None else dtype_of(dtype)
    size: Size = interp.fresh_size("?", positive=False)
    if len(values) == 1 and is_int(values[0]):
        size = values[0]
    elif all(isinstance(value, int | float) for value in values) and values and len(call.kwargs) <= (dtype is not None):
        start, stop, step = (0, *values, 1) if len(values) == 1 else (*values, 1)[:3]
        if step:
            size = max(0, math.ceil((stop - start) / step))
    elif len(values) == 2 and all(is_int(value) for value in values):
        size = dims.subtract(values[1], values[0])
    return make((size,), name)


def _linspace(interp: Interpreter, call: Arguments) -> Value:
    number = interp.resolved(call.get(2, "num", 50))
    ends = [as_array(interp, call.get(index, name), call.frame) for index, name in enumerate(("start", "stop"))]
    if any(end is None or end.spec.shape != () for end in ends) or "retstep" in call.kwargs:
        return UNKNOWN
    dtype = call.kwargs.get("dtype")
    return make(
        (number,) if is_int(number) else (interp.fresh_size("?"),), "float64" if dtype is None else dtype_of(dtype)
    )


def _arrays(interp: Interpreter, call: Arguments) -> Iteration | None:
    """The arrays of a sequence argument."""
    value = call.get(0, "arrays", call.get(0, "tup", call.get(0, "seq")))
    if isinstance(value, Array):
        return iterate(interp, value)
    if not isinstance(value, tuple | ListValue):
        return None
    iteration = interp.iterate(value, call.node, call.frame)
    parts = tuple(as_array(interp, item, call.frame) for item in iteration.items)
    if not parts or any(part is None for part in parts):
        return None
    return Iteration(parts, iteration.exact)


def _common_dtype(parts: tuple[Value, ...]) -> str | None:
    dtype: str | None = parts[0].spec.dtype
    for part in parts[1:]:
        dtype = promoted(dtype, part.spec.dtype)
    return dtype


def _stack(interp: Interpreter, call: Arguments) -> Value:
    iteration = _arrays(interp, call)
    axis = interp.resolved(call.get(1, "axis", 0))
    if iteration is None or not isinstance(axis, int):
        return UNKNOWN
    shape = _shape_of(interp, iteration.items[0])
    shapes = {_shape_of(interp, part) for part in iteration.items}
    dtype = _common_dtype(iteration.items)
    if shape is None or len(shapes) != 1:
        return make(None, dtype)
    axis = axis + len(shape) + 1 if axis < 0 else axis
    count = iteration.count
    if count is None or iteration.exact:
        count = len(iteration.items) if iteration.exact else interp.fresh_size("?")
    return make((*shape[:axis], count, *shape[axis:]) if 0 <= axis <= len(shape) else None, dtype)


def _concatenate(interp: Interpreter, call: Arguments) -> Value:
    iteration = _arrays(interp, call)
    axis = interp.resolved(call.get(1, "axis", 0))
    if iteration is None or not isinstance(axis, int):
        return UNKNOWN
    return _catenated(interp, iteration, axis)


def _catenated(interp: Interpreter, iteration: Iteration, axis: int) -> Value:
    dtype = _common_dtype(iteration.items)
    shapes = [_shape_of(interp, part) for part in iteration.items]
    if not iteration.exact:
        shape = shapes[0]
        if shape is None or any(other != shape for other in shapes) or not -len(shape) <= axis < len(shape):
            return make(None, dtype)
        return make(tuple(interp.fresh_size("?") if i == axis % len(shape) else s for i, s in enumerate(shape)), dtype)
    known = [_spec(shape) for shape in shapes if shape is not None]
    if len(known) != len(shapes) or len(known) > 64:
        return make(None, dtype)
    return make(_ask(interp, "torch.cat", ListSpec(tuple(known)), axis), dtype)


def _stacked(target: str) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        iteration = _arrays(interp, call)
        if iteration is None:
            return UNKNOWN
        dtype = _common_dtype(iteration.items)
        shapes = [_shape_of(interp, part) for part in iteration.items]
        known = [_spec(shape) for shape in shapes if shape is not None]
        if len(known) != len(shapes) or len(known) > 64:
            return make(None, dtype)
        if not iteration.exact:
            shape = shapes[0] or ()
            if any(other != shape for other in shapes) or target != "torch.vstack" or not shape:
                return make(None, dtype)
            return make((interp.fresh_size("?"), *(shape if len(shape) == 1 else shape[1:])), dtype)
        return make(_ask(interp, target, ListSpec(tuple(known))), dtype)

    return model


def _first(interp: Interpreter, call: Arguments) -> Array | None:
    value = call.get(0, "a", call.get(0, "x", call.get(0, "m", call.get(0, "arr", call.get(0, "A", UNKNOWN)))))
    return as_array(interp, value, call.frame)


def _with_shape(interp: Interpreter, array: Array, target: str, *args: Any) -> Value:
    shape = _shape_of(interp, array)
    return make(None if shape is None else _ask(interp, target, _spec(shape), *args), array.spec.dtype)


def _reshape(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    sizes = call.args[1:] if len(call.args) > 2 else call.get(1, "newshape", call.get(1, "shape"))
    wanted = _size(interp, sizes, call)
    if wanted is None:
        return make(None, array.spec.dtype)
    shape = _shape_of(interp, array)
    if shape is None:
        return make(tuple(interp.fresh_size("?") if size == -1 else size for size in wanted), array.spec.dtype)
    return make(_ask(interp, "Tensor.reshape", _spec(shape), wanted), array.spec.dtype)


def _transpose(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    shape = _shape_of(interp, array)
    axes = call.args[1:] if len(call.args) > 2 else call.get(1, "axes")
    if shape is None:
        return make(None, array.spec.dtype)
    if axes is None:
        return make(shape[::-1], array.spec.dtype)
    order = _size(interp, axes, call)
    return make(None, array.spec.dtype) if order is None else _with_shape(interp, array, "Tensor.permute", order)


def _axis_change(target: str, *names: str) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        array = _first(interp, call)
        if array is None:
            return UNKNOWN
        values = [interp.resolved(call.get(index, name, UNKNOWN)) for index, name in enumerate(names, start=1)]
        if not all(isinstance(value, int) for value in values):
            return make(None, array.spec.dtype)
        return _with_shape(interp, array, target, *values)

    return model


def _squeeze(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    axis = interp.resolved(call.get(1, "axis"))
    if array is None:
        return UNKNOWN
    if axis is None:
        return _with_shape(interp, array, "Tensor.squeeze")
    return _with_shape(interp, array, "Tensor.squeeze", axis) if isinstance(axis, int) else make(None, array.spec.dtype)


def _ravel(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    shape = _shape_of(interp, array)
    return make((interp.fresh_size("?") if shape is None else dims.product(shape),), array.spec.dtype)


def _at_least(rank: int) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        array = as_array(interp, call.args[0], call.frame) if len(call.args) == 1 else None
        if array is None:
            return UNKNOWN
        return _with_shape(interp, array, f"torch.atleast_{rank}d")

    return model


def _repeat(interp: Interpreter, call: Arguments) -> Value:
    array, times, axis = (
        _first(interp, call),
        interp.resolved(call.get(1, "repeats")),
        interp.resolved(call.get(2, "axis")),
    )
    if array is None:
        return UNKNOWN
    shape = _shape_of(interp, array)
    if shape is None or not (axis is None or isinstance(axis, int)):
        return make(None, array.spec.dtype)
    if axis is None:
        shape, axis = (dims.product(shape),), 0
    if not -len(shape) <= axis < len(shape):
        return UNKNOWN
    grown: Size = dims.multiply(shape[axis], times) if is_int(times) else interp.fresh_size("?", positive=False)
    return make(tuple(grown if i == axis % len(shape) else size for i, size in enumerate(shape)), array.spec.dtype)


def _tile(interp: Interpreter, call: Arguments) -> Value:
    array, times = _first(interp, call), _size(interp, call.get(1, "reps"), call)
    if array is None:
        return UNKNOWN
    return make(None, array.spec.dtype) if times is None else _with_shape(interp, array, "torch.tile", times)


def _where(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) != 3:
        return UNKNOWN
    parts = [as_array(interp, value, call.frame) for value in call.args]
    if any(part is None for part in parts):
        return UNKNOWN
    shape = _broadcast(interp, *(_shape_of(interp, part) for part in parts if part is not None))
    value = binary(interp, "add", call.args[1], call.args[2], call.frame)
    if isinstance(value, Array):
        return make(shape, value.spec.dtype)
    kinds = [_python_kind(interp.resolved(value)) for value in call.args[1:]]
    if None in kinds:
        return make(shape, None)
    return make(shape, promoted(*(_of_python(kind) for kind in kinds if kind is not None)))


def _pad(interp: Interpreter, call: Arguments) -> Value:
    array, width = _first(interp, call), call.get(1, "pad_width")
    if array is None:
        return UNKNOWN
    shape = _shape_of(interp, array)
    if shape is None:
        return make(None, array.spec.dtype)
    width = interp.resolved(width)
    pairs: list[tuple[Value, ...]] = []
    if is_int(width):
        pairs = [(width, width)] * len(shape)
    elif isinstance(width, tuple | ListValue):
        items = interp.sequence(width, call.node, call.frame) or ()
        if len(items) == 2 and all(is_int(item) for item in items):
            pairs = [tuple(items)] * len(shape)
        else:
            inner = [_size(interp, item, call) for item in items]
            pairs = [pair for pair in inner if pair is not None and len(pair) == 2]
            pairs = pairs * len(shape) if len(pairs) == 1 else pairs
    if len(pairs) != len(shape):
        return make(tuple(interp.fresh_size("?") for _ in shape), array.spec.dtype)
    return make(tuple(dims.add(size, dims.add(a, b)) for size, (a, b) in zip(shape, pairs)), array.spec.dtype)


def _dot(interp: Interpreter, call: Arguments) -> Value:
    one = as_array(interp, call.args[0], call.frame) if call.args else None
    two = as_array(interp, call.args[1], call.frame) if len(call.args) > 1 else None
    if one is None or two is None:
        return UNKNOWN
    if 0 in (one.spec.rank, two.spec.rank):
        return binary(interp, "mul", one, two, call.frame)
    if (two.spec.rank or 0) > 2:
        return UNKNOWN
    return _matmul(interp, one, two)


def _outer(interp: Interpreter, call: Arguments) -> Value:
    parts = [as_array(interp, value, call.frame) for value in call.args[:2]]
    shapes = [None if part is None else _shape_of(interp, part) for part in parts]
    if len(parts) != 2 or any(shape is None for shape in shapes):
        return UNKNOWN
    sizes = tuple(dims.product(shape) for shape in shapes if shape is not None)
    return make(sizes, _common_dtype(tuple(parts)))


def _indices(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    return UNKNOWN if array is None else make(_shape_of(interp, array), "int64")


def _running(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    axis = interp.resolved(call.get(1, "axis"))
    if array is None:
        return UNKNOWN
    shape = _shape_of(interp, array)
    if axis is None and shape is not None:
        shape = (dims.product(shape),)
    return make(shape, _summed(array.spec.dtype) if "dtype" not in call.kwargs else dtype_of(call.kwargs["dtype"]))


def _diff(interp: Interpreter, call: Arguments) -> Value:
    array, axis = _first(interp, call), interp.resolved(call.get(2, "axis", -1))
    if array is None or call.get(1, "n", 1) != 1 or len(call.kwargs) > ("axis" in call.kwargs):
        return UNKNOWN
    shape = _shape_of(interp, array)
    if not shape or not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        return make(None, array.spec.dtype)
    place = axis % len(shape)
    return make(tuple(dims.subtract(s, 1) if i == place else s for i, s in enumerate(shape)), array.spec.dtype)


def _unique(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None or len(call.args) > 1 or call.kwargs:
        return UNKNOWN
    return make((interp.fresh_size("?", positive=False),), array.spec.dtype)


def _meshgrid(interp: Interpreter, call: Arguments) -> Value:
    parts = [as_array(interp, value, call.frame) for value in call.args]
    shapes = [None if part is None else _shape_of(interp, part) for part in parts]
    if not parts or any(shape is None or len(shape) != 1 for shape in shapes) or "sparse" in call.kwargs:
        return UNKNOWN
    sizes = [shape[0] for shape in shapes if shape]
    if call.kwargs.get("indexing", "xy") == "xy" and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return ListValue(tuple(make(tuple(sizes), part.spec.dtype) for part in parts if part is not None))


def _broadcast_to(interp: Interpreter, call: Arguments) -> Value:
    array = as_array(interp, call.get(0, "array"), call.frame)
    return UNKNOWN if array is None else make(_size(interp, call.get(1, "shape"), call), array.spec.dtype)


def _take(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None or call.get(2, "axis") != 0:
        return UNKNOWN
    return get_item(interp, array, call.get(1, "indices"), call.frame)


def _split(interp: Interpreter, call: Arguments) -> Value:
    array = as_array(interp, call.get(0, "ary"), call.frame)
    count, axis = interp.resolved(call.get(1, "indices_or_sections")), interp.resolved(call.get(2, "axis", 0))
    if array is None or not isinstance(count, int) or not 0 < count <= 64 or not isinstance(axis, int):
        return UNKNOWN
    shape = _shape_of(interp, array)
    if not shape or not -len(shape) <= axis < len(shape):
        return UNKNOWN
    place = axis % len(shape)
    part = tuple(dims.floor_divide(s, count) if i == place else s for i, s in enumerate(shape))
    return ListValue(tuple(make(part, array.spec.dtype) for _ in range(count)))


def _append(interp: Interpreter, call: Arguments) -> Value:
    parts = [as_array(interp, value, call.frame) for value in call.args[:2]]
    axis = interp.resolved(call.get(2, "axis"))
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return UNKNOWN
    if isinstance(axis, int):
        return _catenated(interp, Iteration(tuple(parts), True), axis)
    shapes = [_shape_of(interp, part) for part in parts if part is not None]
    if any(shape is None for shape in shapes):
        return make(None, _common_dtype(tuple(parts)))
    sizes = [dims.product(shape) for shape in shapes if shape is not None]
    return make((dims.add(*sizes),), _common_dtype(tuple(parts)))


def _like_first(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    return UNKNOWN if array is None else make(_shape_of(interp, array), array.spec.dtype)


def _interpolated(interp: Interpreter, call: Arguments) -> Value:
    array = _first(interp, call)
    return UNKNOWN if array is None else make(_shape_of(interp, array), "float64")


def _counted(interp: Interpreter, call: Arguments) -> Value:
    """``bincount``: as many as the greatest number, or more."""
    return make(
        (interp.fresh_size("?"),), "int64" if len(call.args) == 1 and "weights" not in call.kwargs else "float64"
    )


def _convolved(interp: Interpreter, call: Arguments) -> Value:
    parts = [as_array(interp, value, call.frame) for value in call.args[:2]]
    shapes = [None if part is None else _shape_of(interp, part) for part in parts]
    mode = call.get(2, "mode", "full")
    if len(shapes) != 2 or any(shape is None or len(shape) != 1 for shape in shapes):
        return UNKNOWN
    first, second = (shape[0] for shape in shapes if shape)
    long, short = dims.extremum("max", first, second), dims.extremum("min", first, second)
    both = dims.subtract(dims.add(long, short), 1)
    sizes = {"full": both, "same": long, "valid": dims.add(dims.subtract(long, short), 1)}
    return make((sizes[mode],), _common_dtype(tuple(parts))) if mode in sizes else UNKNOWN


def _einsum(interp: Interpreter, call: Arguments) -> Value:
    parts = [as_array(interp, value, call.frame) for value in call.args[1:]]
    equation = call.args[0] if call.args else None
    shapes = [None if part is None else _shape_of(interp, part) for part in parts]
    if not isinstance(equation, str) or not shapes or any(shape is None for shape in shapes) or call.kwargs:
        return UNKNOWN
    dtype = _common_dtype(tuple(parts))
    return make(_ask(interp, "torch.einsum", equation, *(_spec(shape) for shape in shapes if shape is not None)), dtype)


def _spectrum(half: bool) -> Callable[[Interpreter, Arguments], Value]:
    """``fft`` and ``rfft`` over the last dimension."""

    def model(interp: Interpreter, call: Arguments) -> Value:
        array = _first(interp, call)
        shape = None if array is None else _shape_of(interp, array)
        if not shape or len(call.args) > 1 or call.kwargs:
            return UNKNOWN
        return make((*shape[:-1], dims.add(dims.floor_divide(shape[-1], 2), 1) if half else shape[-1]), "complex128")

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
    axis = interp.resolved(call.get(first, "axis"))
    keep = call.kwargs.get("keepdims", False)
    dtype = array.spec.dtype
    if name in ("argmax", "argmin", "count_nonzero"):
        dtype = "int64"
    elif name in ("any", "all"):
        dtype = "bool"
    elif name in ("sum", "prod", "nansum"):
        dtype = _summed(dtype)
    elif name in ("mean", "std", "var", "median", "nanmean", "nanstd", "nanvar", "nanmedian", "average"):
        floating = dtype is not None and dtype in _NUMERIC and _kind(dtype) in ("float", "complex")
        dtype = dtype if floating or dtype is None else "float64"
    if name == "average" and (len(call.args) > first + 1 or "weights" in call.kwargs):
        dtype = None
    if "dtype" in call.kwargs:
        dtype = dtype_of(call.kwargs["dtype"])
    shape = _shape_of(interp, array)
    if axis is None:
        return make(() if keep is False else None if shape is None else (1,) * len(shape), dtype)
    axes = _size(interp, axis, call)
    if shape is None or axes is None or not isinstance(keep, bool):
        return make(None, dtype)
    if not all(isinstance(place, int) and -len(shape) <= place < len(shape) for place in axes):
        return UNKNOWN
    places = {int(place) % len(shape) for place in axes if isinstance(place, int)}
    if keep:
        return make(tuple(1 if index in places else size for index, size in enumerate(shape)), dtype)
    return make(tuple(size for index, size in enumerate(shape) if index not in places), dtype)


def _linalg(interp: Interpreter, name: str, call: Arguments) -> Value:
    array = _first(interp, call)
    if array is None:
        return UNKNOWN
    if name == "norm":
        axis = call.get(2, "axis")
        kept = _floating(array.spec.dtype)
        if axis is None and "keepdims" not in call.kwargs:
            return make((), kept)
        value = _reduce(interp, "max", array, call, 2)
        return make(value.spec.shape, kept) if isinstance(value, Array) else UNKNOWN
    if name in ("inv", "pinv", "cholesky"):
        return make(_shape_of(interp, array) if name != "pinv" else None, _floating(array.spec.dtype))
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
        sizes = tuple(interp.resolved(value) for value in call.args)
        return make(sizes if all(is_int(size) for size in sizes) else None, "float64")
    if name in ("randint", "integers", "random_integers"):
        value = call.get(2, "size")
        dtype = _asked(call, 3, "int64")
        ends = [call.get(index, key) for index, key in enumerate(("low", "high"))]
        drawn = _drawn(interp, value, dtype, [end for end in ends if end is not None], call)
        bounds = integers.of_draw(interp, name, call)
        if isinstance(drawn, Array):
            drawn.slots["bounds"] = bounds
        return draws.draw(interp, bounds.low, bounds.high) if is_int(drawn) and bounds is not None else drawn
    if name in _DRAWS:
        count = _PARAMETERS_BEFORE_SIZE[name]
        value = call.get(count, "size")
        given = [*call.args[:count], *(item for key, item in call.kwargs.items() if key not in ("size", "dtype"))]
        dtype = "int64" if name in _INTEGER_DRAWS else _asked(call, count + 1, "float64")
        return _drawn(interp, value, dtype, given, call)
    if name == "permutation":
        value = interp.resolved(call.get(0, "x"))
        if is_int(value):
            return make((value,), "int64")
        array = as_array(interp, value, call.frame)
        return UNKNOWN if array is None else make(_shape_of(interp, array), array.spec.dtype)
    if name == "choice":
        return _choice(interp, call)
    if name == "multivariate_normal":
        mean = as_array(interp, call.get(0, "mean"), call.frame)
        size = call.get(2, "size")
        before = () if size is None else _size(interp, size, call)
        shape = None if mean is None else _shape_of(interp, mean)
        return make(None if shape is None or before is None else (*before, *shape), "float64")
    return UNKNOWN


def _drawn(interp: Interpreter, size: Value, dtype: str | None, given: list[Value], call: Arguments) -> Value:
    """Numbers drawn: of the asked size, or of the common shape of the parameters."""
    if size is not None:
        return make(_size(interp, size, call), dtype)
    shapes: list[Shape] = []
    for value in given:
        array = as_array(interp, value, call.frame)
        shapes.append(None if array is None else _shape_of(interp, array))
    if any(shape != () for shape in shapes):
        return make(_broadcast(interp, *shapes), dtype)
    if dtype == "float64":
        return Scalar("float")
    return interp.fresh_size("?", positive=False) if dtype == "int64" else make((), dtype)


def _choice(interp: Interpreter, call: Arguments) -> Value:
    source, size = interp.resolved(call.get(0, "a")), call.get(1, "size")
    array = make((source,), "int64") if is_int(source) else as_array(interp, source, call.frame)
    if array is None:
        return UNKNOWN
    shape = _shape_of(interp, array)
    if not shape:
        return UNKNOWN
    if size is None:
        return make(shape[1:], array.spec.dtype)
    asked = _size(interp, size, call)
    return make(None if asked is None else (*asked, *shape[1:]), array.spec.dtype)


# -- methods of arrays -----------------------------------------------------------------------------


def method(interp: Interpreter, array: Array, name: str, call: Arguments) -> Value:
    from torchsleuth.interp.calls import Arguments as Args

    if not call.exact:
        return UNKNOWN
    shape, dtype = _shape_of(interp, array), array.spec.dtype
    if name in ("astype", "view") and call.args:
        converted = make(shape if name == "astype" else None, dtype_of(call.get(0, "dtype")))
        for slot in ("bounds", "element"):
            converted.slots[slot] = array.slots.get(slot) if name == "astype" else None
        return converted
    if name == "item":
        kind = _kind(dtype) if dtype in _NUMERIC else ""
        if kind in ("int", "uint"):
            return draws.number(interp, array)
        return Scalar(kind) if kind in ("float", "bool") else UNKNOWN
    if name == "tolist":
        return _listed(interp, array)
    if name in ("fill", "sort", "setflags", "tofile", "partition", "resize", "put"):
        return None
    if name == "flatten":
        name = "ravel"
    whole = Args((array, *call.args), call.kwargs, call.node, call.frame)
    if name in _METHODS_AS_FUNCTIONS:
        model = _FUNCTIONS.get(name)
        if name in ("round", "clip", "conj", "conjugate", "copy"):
            return make(shape, dtype)
        return UNKNOWN if model is None else model(interp, whole)
    if name in _REDUCTIONS and "out" not in call.kwargs and "where" not in call.kwargs:
        return _reduce(interp, name, array, call, 0)
    return UNKNOWN


def _listed(interp: Interpreter, array: Array) -> Value:
    """``array.tolist()``: numbers, or lists of them."""
    shape = _shape_of(interp, array)
    if shape is None or array.spec.dtype not in _NUMERIC:
        return UNKNOWN
    if not shape:
        return plain(interp, array)
    count = dims.product(shape)
    if isinstance(count, int) and isinstance(shape[0], int) and count <= MAX_LISTED:
        elements = (_element(interp, array, shape[1:], index) for index in range(shape[0]))
        return ListValue(tuple(_listed(interp, element) for element in elements))
    return ListValue(Several((_listed(interp, make(shape[1:], array.spec.dtype)),)))


__all__ = [
    "GENERATORS",
    "TEXT",
    "as_array",
    "attribute",
    "binary",
    "call",
    "draw",
    "get_item",
    "iterate",
    "joined",
    "length",
    "make",
    "method",
    "promoted",
    "tensor_from",
    "to_tensor",
    "unary",
]

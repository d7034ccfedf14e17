"""Arrays of NumPy: how they are made, their items and operators; where shapes are concerned, the oracle is asked."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from torchsleuth.interp import exceptions
from torchsleuth.interp.arguments import Arguments, device_of
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import array_dtypes, contained, contents, draws, integers, scalars
from torchsleuth.interp.models import of_class
from torchsleuth.sifting import all_are, any_are, as_kind, of_kind
from torchsleuth.tensors import legacy
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, DType, Failure, Result, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Bounds,
    Ends,
    Image,
    LibraryObject,
    ListValue,
    Origin,
    Scalar,
    SliceValue,
    Tensor,
    Value,
    elements_of,
    is_int,
    is_of,
    is_unknown,
    items_of,
    sizes_of,
    tuple_of,
)
from torchsleuth.values.frames import Frame

Shape = tuple[Size, ...] | None

COMPARISONS = frozenset("eq ne lt le gt ge".split())
MAX_ELEMENTS = 256
"""Elements of an array that a loop sees one by one."""


# -- making arrays ---------------------------------------------------------------------------------


def make(shape: Shape, dtype: str | None) -> Array:
    return Array(TensorSpec(shape, dtype, CPU, False))


def shape_of(interp: Interpreter, array: Array) -> Shape:
    return interp.resolved_spec(array.spec).shape


_REFUSED_ALIKE = frozenset({"operator.add", "operator.matmul", "Tensor.reshape"})
"""Operators of PyTorch that refuse the shapes which NumPy refuses, too, with a ValueError."""


def asked_shape(interp: Interpreter, target: str, *args: Any, **kwargs: Any) -> Shape:
    """The shape that a torch operator gives for operands of these shapes; None where it is not decided."""
    answer = interp.oracle.call(target, args, kwargs, interp.fresh_symbol, False)
    if isinstance(answer, Failure) and target in _REFUSED_ALIKE:
        exceptions.throw(interp, exceptions.made("builtins.ValueError", (UNKNOWN,)))
    outcome = as_kind(answer, Result)
    if outcome is None or not isinstance(outcome.value, TensorSpec):
        return None
    for fact in outcome.facts:
        interp.learn(fact)
    return outcome.value.shape


def spec_of(shape: tuple[Size, ...]) -> TensorSpec:
    return TensorSpec(shape, "float32")


def broadcast(interp: Interpreter, *shapes: Shape) -> Shape:
    result: Shape = ()
    for shape in shapes:
        if shape is None or result is None:
            return None
        result = (
            shape
            if not result
            else result
            if not shape
            else asked_shape(interp, "operator.add", spec_of(result), spec_of(shape))
        )
    return result


def given_shape(interp: Interpreter, value: Value, call: Arguments) -> Shape:
    """A shape argument: a size, or a sequence of sizes."""
    value = plain(interp, value)
    if is_int(value):
        return (value,)
    if isinstance(value, tuple | ListValue):
        items = interp.sequence(value, call.node, call.frame) or (None,)
        sizes = sizes_of(plain(interp, item) for item in items)
        if sizes is not None:
            return sizes
    return None


def plain(interp: Interpreter, value: Value) -> Value:
    """The Python number that a scalar of NumPy's is as good as."""
    value = interp.resolved(value)
    if not isinstance(value, Array) or shape_of(interp, value) != () or value.spec.dtype not in array_dtypes.NUMERIC:
        return value
    kind = array_dtypes.kind_of(value.spec.dtype or "")
    if (known := scalars.of(value)) is not None:
        return known
    if (held := contents.number(value)) is not None:
        return held
    if kind in ("int", "uint"):
        return draws.number(interp, value)
    return Scalar(kind) if kind in ("float", "bool") else value


def as_array(interp: Interpreter, value: Value, frame: Frame, depth: int = 6) -> Array | None:
    """The result of ``np.asarray(value)``, None where nothing is known."""
    value = interp.resolved(value)
    match value:
        case Array():
            return value
        case Tensor():
            spec = interp.resolved_spec(value.spec)
            return make(spec.shape, spec.dtype if spec.dtype in array_dtypes.NUMERIC else None)
        case Image():
            return _of_image(interp, value)
        case LibraryObject():
            return of_class(value.path)(interp, value).as_array(frame)
    kind = array_dtypes.python_kind(value)
    if kind is not None:
        return make((), array_dtypes.of_python(kind))
    if is_of(value, str):
        return make((), "str")
    if not isinstance(value, tuple | ListValue) or depth == 0:
        return None
    if isinstance(value, ListValue) and value.type_name in ("set", "generator"):
        return None
    iteration = interp.iterate(value, ast.Pass(), frame)
    if any_are(iteration.items, Tensor):
        return None
    made = joined(interp, iteration, lambda item: as_array(interp, item, frame, depth - 1))
    if made is not None and iteration.exact and iteration.items:
        numbers = [item for item in iteration.items if type(item) is int]
        if len(numbers) == len(iteration.items):
            low, high = min(numbers), max(numbers)
            made.slots["spread"] = Bounds(low, high, whole=len(set(numbers)) == high - low + 1)
    return made


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
    ends = None
    seen: set[int] = set()
    for item in iteration.items:
        if id(item) in seen:
            continue
        seen.add(id(item))
        part = convert(item)
        if part is None:
            return None
        ends = contained.together((ends, contained.of(part)))
        if first is None:
            first = part
            continue
        one, two = first.spec, part.spec
        shape = _in_common(one.shape, two.shape)
        if shape is None:
            return None
        first = make(shape, array_dtypes.promoted(one.dtype, two.dtype))
    if first is None or first.spec.shape is None:
        return None if first is None else make(None, first.spec.dtype)
    whole = make((count, *first.spec.shape), first.spec.dtype)
    whole.slots["ends"] = ends
    return whole


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
    own = spec.dtype if spec.dtype in array_dtypes.NUMERIC else None
    return Tensor(TensorSpec(spec.shape, dtype or own, CPU, False), None, contained.tags(array))


_BACKWARDS = (
    "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
    "supported. (You can probably work around this by making a copy of your array  with array.copy().)"
)
_TYPES = "float64 float32 float16 complex64 complex128 int64 int32 int16 int8 uint64 uint32 uint16 uint8"
_OBJECTS = (
    "can't convert np.ndarray of type numpy.object_. The only supported types are: "
    f"{', '.join(_TYPES.split())}, and bool."
)
_CONVERTERS = frozenset({"from_numpy", "tensor", "as_tensor", "asarray", *legacy.DTYPES})


def _refused(interp: Interpreter, path: str, call: Arguments, failure: Failure) -> None:
    interp.report(interp.operation(path, call.args, call.kwargs, call.node, call.frame, None), failure)


def tensor_from(interp: Interpreter, path: str, call: Arguments) -> Tensor | None:
    """``torch.from_numpy(array)``, ``torch.tensor(array)`` and their like; None for anything but arrays."""
    name = path.removeprefix("torch.")
    value = call.given(0, "data", call.given(0, "obj", call.given(0, "ndarray")))
    if name not in _CONVERTERS or not isinstance(value, Array | tuple | ListValue | LibraryObject):
        return None
    if isinstance(value, LibraryObject):
        source = of_class(value.path)(interp, value).for_torch(name, call.frame)
        if isinstance(source, Failure):
            _refused(interp, path, call, source)
        if not isinstance(source, Array):
            return None
        value = source
    if not isinstance(value, Array):
        items = items_of(value)
        if not any_are(items or (), Array):
            return None
    array = as_array(interp, value, call.frame)
    if array is None:
        return Tensor(UNKNOWN_TENSOR)
    if array is value and array.slots["mirrored"]:
        _refused(interp, path, call, Failure("ValueError", _BACKWARDS, confirmed=True))
    if array.spec.dtype == "object" and array.spec.shape is not None:
        _refused(interp, path, call, Failure("TypeError", _OBJECTS, confirmed=True))
    asked = call.kwargs.get("dtype")
    dtype = legacy.DTYPES.get(name)
    if isinstance(asked, DType):
        dtype = asked.name
    if name != "tensor":
        contents.forget(interp, (array,))  # The tensor shares its memory.
    spec = to_tensor(interp, array, dtype).spec
    if asked is not None and not isinstance(asked, DType):
        spec = spec.with_(dtype=None)
    if "device" in call.kwargs:
        spec = spec.with_(device=device_of(call.kwargs["device"]))
    if name in legacy.DTYPES and spec.shape == ():
        spec = spec.with_(shape=None)
    grad = call.kwargs.get("requires_grad", False)
    spec = spec.with_(requires_grad=as_kind(grad, bool))
    origin = Origin(interp.site(call.node, call.frame), path)
    return Tensor(spec, origin, integers.converted(contained.tags(array), spec.dtype))


# -- attributes and items --------------------------------------------------------------------------


def length(interp: Interpreter, array: Array) -> Size | None:
    shape = shape_of(interp, array)
    return shape[0] if shape else None


def iterate(interp: Interpreter, array: Array) -> Iteration:
    shape = shape_of(interp, array)
    if not shape:
        return Iteration((UNKNOWN,), exact=False)
    if isinstance(shape[0], int) and shape[0] <= MAX_ELEMENTS:
        return Iteration(tuple(element_of(interp, array, shape[1:], index) for index in range(shape[0])), exact=True)
    element = Array(TensorSpec(shape[1:], array.spec.dtype, CPU, False), array.slots["bounds"])
    element.slots["ends"] = contained.of(array)
    contents.item(interp, array, UNKNOWN, element)
    return Iteration((_part(element),), exact=False)


def _part(element: Array) -> Value:
    """The result of indexing: a string for one of an array of strings, anything for one of an array of objects."""
    if element.spec.shape != () or element.spec.dtype not in array_dtypes.TEXT:
        return element
    return Scalar("str") if element.spec.dtype == "str" else UNKNOWN


def element_of(interp: Interpreter, array: Array, shape: tuple[Size, ...], index: int) -> Value:
    element = Array(TensorSpec(shape, array.spec.dtype, CPU, False), array.slots["bounds"])
    element.slots["ends"] = contained.of(array)
    draws.mark(array, index, element, interp)
    return _part(element) if _part(element) is not element else contents.item(interp, array, index, element)


def check_index(interp: Interpreter, array: Array, key: Value, node: ast.AST, frame: Frame) -> None:
    """Report an array of indices that goes beyond what is indexed."""
    shape, spread = shape_of(interp, array), _spread(key)
    if spread is None or not shape or type(shape[0]) is not int:
        return
    wrong = spread.high if spread.high >= shape[0] else spread.low if spread.low < -shape[0] else None
    if wrong is not None:
        operation = interp.operation("operator.getitem", (array, key), {}, node, frame, None)
        text = f"index {wrong} is out of bounds for dimension 0 with size {shape[0]}"
        interp.report(operation, Failure("IndexError", text, confirmed=True))


def get_item(interp: Interpreter, array: Array, key: Value, frame: Frame) -> Value:
    shape = shape_of(interp, array)
    if array.slots["spread"] is not None and any_are(tuple_of(key), SliceValue):
        interp.heap.set(array.slots, "spread", None)  # The part is a view, through which it may be written to.
    found = _indexed(interp, shape, tuple_of(key), frame) if shape is not None else None
    if shape is None or found is None:
        return _of_dtype(array.spec.dtype)
    element = Array(TensorSpec(found, array.spec.dtype, CPU, False), array.slots["bounds"])
    element.slots["ends"] = contained.in_part(contained.of(array), interp.resolved(key))
    element.slots["mirrored"] = _mirrored(interp, array, shape, tuple_of(key))
    keep_numbered(array, element)
    return draws.mark(array, interp.resolved(key), element, interp) if _part(element) is element else _part(element)


def keep_numbered(array: Array, part: Array) -> None:
    """A part of an array, or one of another dtype, holds the numbers of the same categories."""
    if "numbered" in array.slots:
        part.slots["numbered"] = array.slots["numbered"]


def _of_dtype(dtype: str | None) -> Value:
    """A part of an array of which nothing is known but its dtype."""
    if dtype is None or dtype not in array_dtypes.NUMERIC:
        return UNKNOWN
    part = make(None, dtype)
    part.slots["mirrored"] = None
    return part


def _indexed(interp: Interpreter, shape: tuple[Size, ...], keys: tuple[Value, ...], frame: Frame) -> Shape:
    """The shape of an indexed array; None where it is not known."""
    parts = [_index_array(interp, key, frame) for key in keys]
    if any(is_unknown(part) for part in parts):
        return None
    used = sum(_consumed(part) for part in parts)
    if used > len(shape):
        return None
    if not any(part is ... for part in parts):
        parts.append(...)
    result: list[Size] = []
    advanced: list[tuple[int, Shape]] = []
    together = _stand_together(parts)
    if any_are(parts, Array):
        parts = [make((), "int64") if is_int(part) else part for part in parts]
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
            advanced.append((len(result), (_count(interp, part),) if mask else own))
            position += len(own) if mask else 1
        else:
            position += 1
    if not advanced:
        return tuple(result)
    joined_shape = broadcast(interp, *(own for _, own in advanced)) if len(advanced) > 1 else advanced[0][1]
    if joined_shape is None:
        return None
    place = advanced[0][0] if together else 0
    return (*result[:place], *joined_shape, *result[place:])


def _stand_together(parts: Sequence[Value]) -> bool:
    """Whether nothing stands between the indices that are numbers or arrays; else their dimensions come first."""
    places = [place for place, part in enumerate(parts) if isinstance(part, Array) or is_int(part)]
    return not places or places[-1] - places[0] < len(places)


def _count(interp: Interpreter, mask: Array) -> Size:
    """How many ones there are in a mask: the same number wherever it selects, until something is written into it."""
    known: Size | None = mask.slots.get("count")
    if known is None:
        known = interp.fresh_size("?", positive=False)
        interp.heap.set(mask.slots, "count", known)
    return known


def _mirrored(interp: Interpreter, array: Array, shape: tuple[Size, ...], keys: tuple[Value, ...]) -> Any:
    """The dimensions of an indexed array that go through their memory backwards, None where that is not known."""
    before = array.slots["mirrored"]
    parts = [interp.resolved(key) for key in keys]
    if not all(part is None or part is ... or isinstance(part, SliceValue) or is_int(part) for part in parts):
        return frozenset()  # an index array copies
    if before is None:
        return None
    if not any(part is ... for part in parts):
        parts.append(...)
    found: set[int] = set()
    source = place = 0
    for part in parts:
        if part is ...:
            rest = len(shape) - sum(_consumed(one) for one in parts)
            found.update(place + index for index in range(rest) if source + index in before)
            source, place = source + rest, place + rest
        elif part is None:
            place += 1
        elif isinstance(part, SliceValue):
            step = interp.resolved(part.step)
            if step is not None and not isinstance(step, int):
                return None
            if (source in before) != (step is not None and step < 0):
                found.add(place)
            source, place = source + 1, place + 1
        else:
            source += 1
    return frozenset(found)


def flipped(interp: Interpreter, array: Array, axes: Value) -> Array:
    """``np.flip`` and its like: a view that goes backwards along these axes; along some of those in a list that chance chooses."""
    shape, before = shape_of(interp, array), array.slots["mirrored"]
    made = make(shape, array.spec.dtype)
    chosen = elements_of(axes) if isinstance(axes, ListValue) else tuple_of(axes)
    given = tuple(range(len(shape or ()))) if axes is None else chosen or (None,)
    known = shape is not None and before is not None and all_are(given, int)
    made.slots["mirrored"] = before ^ frozenset(axis % len(shape) for axis in given) if known and shape else None
    if shape is None and before == frozenset() and len(given) == 1 and isinstance(given[0], int):
        made.slots["mirrored"] = frozenset(given)
    return made


def _index_array(interp: Interpreter, key: Value, frame: Frame) -> Value:
    """An index as it is used: a number, a slice, None, an ellipsis, or an array; unknown for anything else."""
    key = interp.resolved(key)
    if key is None or key is ... or isinstance(key, SliceValue) or is_int(key):
        return key
    if isinstance(key, Scalar | bool) or is_unknown(key):
        return UNKNOWN
    array = as_array(interp, key, frame)
    if array is None or array.spec.dtype is None:
        return UNKNOWN
    if array.spec.shape == () and array.spec.dtype != "bool":
        return 0
    return array if array_dtypes.kind_of(array.spec.dtype) in ("int", "uint", "bool") else UNKNOWN


def _consumed(part: Value) -> int:
    """How many dimensions an index uses up."""
    if isinstance(part, Array):
        return len(part.spec.shape or ()) if part.spec.dtype == "bool" else 1
    return 0 if part is None or part is ... else 1


def _sliced(interp: Interpreter, size: Size, part: SliceValue) -> Size | None:
    bounds = [interp.resolved(bound) for bound in (part.start, part.stop, part.step)]
    if any(is_unknown(bound) or isinstance(bound, Scalar | Array) for bound in bounds):
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

    shape = asked_shape(interp, "operator.getitem", spec_of((size,)), SliceSpec(*bounds))
    return shape[0] if shape else interp.fresh_size("?", positive=False)


# -- operators -------------------------------------------------------------------------------------


def of_operands(result: Value, *operands: Value) -> Value:
    """A result, with the place where its operands left the autograd graph. It may be a view of one of them."""
    if isinstance(result, Array) and result.slots["mirrored"] == frozenset():
        if any(operand.slots["mirrored"] != frozenset() for operand in of_kind(operands, Array)):
            result.slots["mirrored"] = None
    cut = next((found for operand in operands if (found := left_graph(operand)) is not None), None)
    if isinstance(result, Array) and cut is not None:
        result.slots["cut"] = cut
    return Scalar(result.type, cut) if isinstance(result, Scalar) and cut is not None else result


def left_graph(value: Value, depth: int = 3) -> Any:
    """Where the numbers in a value left the autograd graph, None if they were never in one."""
    match value:
        case Array():
            return value.slots["cut"]
        case Scalar():
            return value.cut
    items = elements_of(value) or ()
    return next((cut for item in items if depth and (cut := left_graph(item, depth - 1)) is not None), None)


def binary(interp: Interpreter, name: str, left: Value, right: Value, frame: Frame) -> Value:
    """An operator, where at least one side is an array."""
    sides = []
    kinds = []
    for value in (left, right):
        kinds.append(None if isinstance(value, Array) else array_dtypes.python_kind(interp.resolved(value)))
        sides.append(as_array(interp, value, frame) if not isinstance(value, Tensor) else None)
    one, two = sides
    if one is None or two is None:
        return UNKNOWN
    if name == "matmul":
        return product(interp, one, two)
    shape = broadcast(interp, shape_of(interp, one), shape_of(interp, two))
    if name in COMPARISONS:
        compared = make(shape, "bool")
        compared.slots["ends"] = Ends(0, 1)  # Where something is asked, both answers occur.
        return compared
    if kinds[1] is not None:
        dtype = array_dtypes.weak(one.spec.dtype, kinds[1])
    elif kinds[0] is not None:
        dtype = array_dtypes.weak(two.spec.dtype, kinds[0])
    else:
        dtype = _strong(one, two)
    if name == "truediv" and dtype is not None and array_dtypes.kind_of(dtype) in ("bool", "int", "uint"):
        dtype = "float64"
    if dtype == "bool" and name not in ("and_", "or_", "xor", "add", "mul", "max", "min"):
        dtype = None
    made = make(shape, dtype)
    if dtype is not None and array_dtypes.kind_of(dtype) == "int":
        made.slots["bounds"] = integers.computed(name, (left, right), _held)
        made.slots["spread"] = integers.computed(name, (left, right), _spread)
        draws.computed(interp, name, left, right, made)
    if dtype is not None and made.slots["bounds"] is None and array_dtypes.kind_of(dtype) in ("int", "uint"):
        ends = integers.computed(name, (left, right), contained.of)
        made.slots["ends"] = ends if contained.fits(ends, dtype) else None
    return scalars.computed(name, (left, right), made)


def set_attribute(interp: Interpreter, array: Array, name: str, value: Value) -> None:
    """``array.shape = …`` and its like."""
    contents.rearranged(interp, array)
    sizes = sizes_of(tuple_of(interp.resolved(value))) if name == "shape" else None
    shape, known = array.spec.shape, None
    if sizes is not None and shape is not None and all_are((*sizes, *shape), int):
        rest = math.prod(of_kind(sizes, int)) if -1 not in sizes else -math.prod(of_kind(sizes, int))
        left = math.prod(of_kind(shape, int)) // rest if rest else 0
        known = tuple(left if size == -1 else size for size in sizes)
    interp.heap.set(array.slots, "spec", array.spec.with_(shape=known, strides=None))
    if name == "dtype":
        interp.heap.set(array.slots, "spec", UNKNOWN_TENSOR)


def written(interp: Interpreter, array: Array, result: Value) -> Value:
    """An array that an operator writes its result into: it keeps its dtype. One without dimensions may be a number, which is
    another one then; of one with an unknown number of dimensions, nothing tells."""
    made = result if isinstance(result, Array) else make(None, None)
    if array.spec.shape == ():
        return result
    contents.updated(interp, array, result)
    if array.spec.shape is None:
        return make(None, array.spec.dtype if made.spec.dtype == array.spec.dtype else None)
    interp.heap.set(array.slots, "cut", made.slots["cut"])
    for name in ("bounds", "ends", "spread"):
        interp.heap.set(array.slots, name, made.slots[name] if made.spec.dtype == array.spec.dtype else None)
    return array


def _held(value: Value) -> Bounds | None:
    """Between which integers the elements of an array lie."""
    bounds: Bounds | None = value.slots["bounds"] if isinstance(value, Array) else None
    return bounds


def _spread(value: Value) -> Bounds | None:
    spread: Bounds | None = value.slots["spread"] if isinstance(value, Array) else None
    return spread


def _strong(one: Array, two: Array) -> str | None:
    """Before NumPy 2, an array without dimensions did not always count in promotion."""
    dtype = array_dtypes.promoted(one.spec.dtype, two.spec.dtype)
    ranks = (one.spec.rank, two.spec.rank)
    if 0 in ranks and ranks != (0, 0):
        array = two if ranks[0] == 0 else one
        return dtype if dtype == array.spec.dtype else None
    return dtype


def unary(interp: Interpreter, name: str, value: Array) -> Value:
    return make(shape_of(interp, value), value.spec.dtype)


def product(interp: Interpreter, one: Array, two: Array) -> Value:
    shapes = (shape_of(interp, one), shape_of(interp, two))
    dtype = array_dtypes.promoted(one.spec.dtype, two.spec.dtype)
    if shapes[0] is None or shapes[1] is None:
        return make(None, dtype)
    return make(asked_shape(interp, "operator.matmul", spec_of(shapes[0]), spec_of(shapes[1])), dtype)

"""What small arrays of NumPy hold, where that is known: NumPy itself computes it, on plain data.

Arrays that share memory share a `Memory`; each sees it through the places of its elements there, which are an array of
integers with the strides of the original. A view of an array is the same view of its places. NumPy is asked only for
functions in closed tables, with numbers, texts and arrays of a bounded size; where it is not installed, nothing is known.
"""

from __future__ import annotations

import functools
import importlib
import math
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

from torchsleuth.interp import exceptions
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import array_dtypes
from torchsleuth.interp.library.plain import NotPlain
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors.device import CPU
from torchsleuth.tensors.spec import Native, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    Array,
    ListValue,
    Memory,
    Numbers,
    SliceValue,
    Value,
    View,
    elements_of,
)

MAX_ELEMENTS = 1024
"""Elements of an array whose content is followed."""
MAX_STEPS = 1_000_000
"""Products that an operation may take."""
MAX_INTEGER = 2**63
MAX_TEXT = 60
MAX_DEPTH = 4
_NUMBERS = (bool, int, float, complex)

_VIEWS = frozenset(
    "reshape transpose permute_dims ravel squeeze swapaxes moveaxis rollaxis expand_dims atleast_1d atleast_2d atleast_3d "
    "broadcast_to flip fliplr flipud rot90 diagonal split array_split hsplit vsplit dsplit ascontiguousarray asfortranarray".split()
)
"""Functions and methods that give views, or copies of the same elements."""
_SAME = frozenset({"asarray", "asanyarray", "array"})
"""Functions that may give the array that they are given."""
_PURE = frozenset(
    "copy sort argsort argpartition partition lexsort searchsorted unique unique_values where nonzero flatnonzero argwhere "
    "argmax argmin nanargmax nanargmin max min amax amin sum prod mean std var median average ptp any all count_nonzero "
    "nansum nanmean nanstd nanvar nanmax nanmin nanmedian nanprod cumsum cumprod nancumsum diff ediff1d gradient clip round "
    "around rint fix floor ceil trunc abs absolute fabs negative positive sign sqrt cbrt square exp expm1 exp2 log log2 "
    "log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh hypot deg2rad rad2deg radians degrees reciprocal "
    "isnan isinf isfinite signbit nan_to_num isclose allclose array_equal array_equiv equal not_equal less less_equal "
    "greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert "
    "left_shift right_shift add subtract multiply divide true_divide floor_divide power float_power mod remainder fmod "
    "divmod modf maximum minimum fmax fmin heaviside copysign gcd lcm take take_along_axis compress choose select extract "
    "concatenate concat stack vstack hstack dstack column_stack row_stack append insert delete trim_zeros roll tril triu "
    "trace digitize interp percentile quantile nanpercentile nanquantile histogram isin in1d intersect1d union1d "
    "setdiff1d setxor1d unravel_index ravel_multi_index ix_ dot vdot inner matmul cross shape size ndim "
    "result_type promote_types can_cast polyval polyfit cov corrcoef angle iscomplex isreal "
    "linalg.norm linalg.det linalg.matrix_rank fliplr flipud flatten astype item tolist zeros_like ones_like "
    "full_like".split()
)
"""Functions and methods that give something new, which is about as large as what they are given."""
_SIZED = frozenset(
    "zeros ones full eye identity arange linspace logspace geomspace tile pad repeat tri bincount".split()
)
"""Functions whose arguments say how large the result is: they are called where that is known to be small."""
_GROWING = frozenset(
    "outer kron meshgrid einsum tensordot convolve correlate diag diagflat matrix_power vander".split()
)
"""Functions whose result grows with the product of what they are given."""
_COUNTING = frozenset("histogram diff polyfit zeros_like ones_like full_like".split())
"""Functions to which a number, or `shape`, may say how much they are to do."""
_WRITERS = frozenset("put place copyto fill_diagonal putmask put_along_axis".split())
"""Functions that write to their first argument."""
_UFUNCS = frozenset("add subtract multiply divide maximum minimum logical_or logical_and bitwise_or".split())
"""Functions that have a method ``at``."""
_WRITING = frozenset("fill sort put partition".split())
"""Methods that write to the array."""
_REDUCED = frozenset("add multiply maximum minimum logical_or logical_and".split())
_METHODS = (
    frozenset(
        "argsort argpartition searchsorted nonzero argmax argmin max min sum prod mean std var ptp any all cumsum cumprod "
        "clip round take compress choose repeat trace dot copy flatten astype".split()
    )
    | _VIEWS
)


@functools.cache
def library() -> Any:
    """The installed NumPy, None where there is none."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


@contextmanager
def _asking(interp: Interpreter) -> Iterator[Any]:
    """NumPy, to be asked something. What it raises is raised in the program, where something may catch it."""
    numpy = library()
    if numpy is None:
        raise NotPlain
    try:
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield numpy
    except (IndexError, ValueError) as error:
        if "read-only" in str(error):
            raise NotPlain from None  # NumPy is given what it must not write to, such as an `out` by its place.
        exceptions.throw(interp, exceptions.made(f"builtins.{_builtin(error)}", (UNKNOWN,)))
        raise NotPlain from None
    except (TypeError, ArithmeticError, AttributeError, RuntimeError, MemoryError):
        raise NotPlain from None


def _builtin(error: Exception) -> str:
    return "IndexError" if isinstance(error, IndexError) else "ValueError"


# -- what is held ----------------------------------------------------------------------------------


def _view(array: Array) -> View | None:
    return as_kind(array.slots["content"], View)


def _held(memory: Memory) -> Any:
    """The content of a memory, in its order; None where it is not known."""
    numbers = as_kind(memory.slots["numbers"], Numbers)
    return None if numbers is None else library().frombuffer(numbers.data, numbers.dtype)


def of(array: Array) -> Any:
    """The content of an array, as a NumPy array of its own, or a NumPy scalar; None where it is not known."""
    view = _view(array)
    if view is None or view.places is None:
        return None
    held = _held(view.memories[0])
    return None if held is None else held[view.places]


def number(value: Value) -> bool | int | float | complex | None:
    """The Python number that an array without dimensions holds; None where it is not known."""
    if not isinstance(value, Array) or value.spec.shape != () or value.slots["content"] is None:
        return None
    held = of(value)
    found = None if held is None else held.item()
    return found if isinstance(found, _NUMBERS) else None


def forget(interp: Interpreter, values: Iterable[Value], depth: int = 2) -> None:
    """Code that is not known may write to these."""
    for value in values:
        if isinstance(value, Array):
            view = _view(value)
            for memory in view.memories if view is not None else ():
                interp.heap.set(memory.slots, "numbers", None)
        elif depth and isinstance(value, tuple | ListValue):
            forget(interp, elements_of(value) or (), depth - 1)


def rearranged(interp: Interpreter, array: Array) -> None:
    """The array gets another shape in its place: which numbers stand where is not followed."""
    forget(interp, (array,))
    view = _view(array)
    if view is not None:
        interp.heap.set(array.slots, "content", View(view.memories, None))


def copied(array: Array) -> View | None:
    """The content of a copy of an array."""
    view = _view(array)
    if view is None or view.places is None:
        return None
    return View((Memory(view.memories[0].slots["numbers"]),), view.places)


# -- down and up -----------------------------------------------------------------------------------


def _lowered(interp: Interpreter, value: Value, depth: int = MAX_DEPTH) -> Any:
    """A value as NumPy takes it."""
    value = interp.resolved(value)
    if value is None or value is ... or type(value) in (bool, float, complex):
        return value
    if (type(value) is int and abs(value) <= MAX_INTEGER) or (type(value) is str and len(value) <= MAX_TEXT):
        return value
    match value:
        case Array():
            held = of(value)
            if held is None:
                raise NotPlain
            held.setflags(write=False)
            return held
        case SliceValue():
            return slice(*(_lowered(interp, part) for part in (value.start, value.stop, value.step)))
        case Native():
            return _dtype(value)
        case tuple() | ListValue():
            return _sequence(interp, value, depth)
    raise NotPlain


def _sequence(interp: Interpreter, value: tuple[Value, ...] | ListValue, depth: int) -> Any:
    items = value.items if isinstance(value, ListValue) else value
    ordered = not isinstance(value, ListValue) or value.type_name in ("list", "range")
    if items is None or not ordered or len(items) > MAX_ELEMENTS or not depth:
        raise NotPlain
    lowered = [_lowered(interp, item, depth - 1) for item in items]
    if sum(library().size(one) for one in lowered) > MAX_ELEMENTS:
        raise NotPlain
    return lowered if isinstance(value, ListValue) else tuple(lowered)


def _dtype(value: Native) -> Any:
    name = array_dtypes.dtype_of(value)
    if name not in array_dtypes.NUMERIC:
        raise NotPlain
    return library().dtype(name)


def _arguments(interp: Interpreter, call: Arguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not call.exact or "out" in call.kwargs:
        raise NotPlain
    args = tuple(_lowered(interp, value) for value in call.args)
    return args, {name: _lowered(interp, value) for name, value in call.kwargs.items()}


def _lifted(result: Any) -> Value:
    """A result of NumPy's, as a value."""
    numpy = library()
    if isinstance(result, numpy.ndarray | numpy.generic):
        return _array(result)
    if isinstance(result, numpy.dtype):
        return Native(f"numpy.{result.name}", "external")
    if result is None or type(result) in (*_NUMBERS, str):
        return result
    if isinstance(result, tuple):
        return tuple(map(_lifted, result))
    if isinstance(result, list):
        return ListValue(tuple(map(_lifted, result)))
    raise NotPlain


def _array(result: Any) -> Array:
    """An array with a memory of its own, which lies there as NumPy has it."""
    numpy = library()
    if result.dtype.name not in array_dtypes.NUMERIC or result.size > MAX_ELEMENTS:
        raise NotPlain
    whole = numpy.array(result, order="K")
    flat = numpy.arange(whole.size)
    strides = tuple(stride // whole.itemsize * flat.itemsize for stride in whole.strides)
    places = numpy.lib.stride_tricks.as_strided(flat, whole.shape, strides)
    data = whole.ravel(order="K").tobytes()
    return _seen(View((Memory(Numbers(whole.dtype.str, data)),), places), whole.dtype.name)


def _seen(view: View, dtype: str) -> Array:
    """An array that sees a memory this way."""
    made = Array(TensorSpec(tuple(view.places.shape), dtype, CPU, False))
    made.slots["content"] = view
    made.slots["mirrored"] = frozenset(axis for axis, stride in enumerate(view.places.strides) if stride < 0)
    return made


def _looked_at(array: Array, result: Any) -> Value:
    """Arrays that are made of the places of another: views of it, or copies."""
    view = _view(array)
    if isinstance(result, list | tuple):
        parts = tuple(_looked_at(array, one) for one in result)
        return ListValue(parts) if isinstance(result, list) else parts
    dtype = array.spec.dtype
    if view is None or view.places is None or dtype is None:
        raise NotPlain
    if isinstance(result, library().ndarray) and library().may_share_memory(result, view.places):
        return _seen(View(view.memories, result, is_part=True), dtype)
    held = _held(view.memories[0])
    if held is None:
        raise NotPlain
    return _array(held[result])


def _settled(made: Value, known: Value) -> Value:
    """The result of a model, with its content where that is known."""
    if not isinstance(made, Array) or not isinstance(known, Array):
        return known
    for slot in ("spec", "content"):
        made.slots[slot] = known.slots[slot]
    return made


def _linked(made: Value, *sources: Value) -> Value:
    """An array that may be a view of others, whichever way: what is written to it may change those."""
    views = [view for source in of_kind(sources, Array) if (view := _view(source)) is not None]
    memories = tuple({id(memory): memory for view in views for memory in view.memories}.values())
    if memories:
        parts = (made,) if isinstance(made, Array) else elements_of(made) or ()
        for part in of_kind(parts, Array):
            part.slots["content"] = View(memories)
    return made


# -- operators -------------------------------------------------------------------------------------

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift matmul eq ne lt le gt ge".split()
}
_INVERSIONS: dict[str, Callable[[Any], Any]] = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}


def operated(interp: Interpreter, name: str, left: Value, right: Value, made: Value) -> Value:
    """``left + right`` or ``left < right``, of which at least one is an array."""
    if name not in _OPERATORS:
        return made
    try:
        sides = [_lowered(interp, side) for side in (left, right)]
        _stays_small(*sides)
        with _asking(interp):
            return _settled(made, _lifted(_OPERATORS[name](*sides)))
    except NotPlain:
        return made


def negated(interp: Interpreter, name: str, value: Array, made: Value) -> Value:
    """``-value`` and its like."""
    try:
        with _asking(interp):
            return _settled(made, _lifted(_INVERSIONS[name](_lowered(interp, value))))
    except NotPlain:
        return made


def _stays_small(*sides: Any) -> None:
    """Broadcasting makes no more than the product of the sizes."""
    if math.prod(max(library().size(side), 1) for side in sides) > MAX_STEPS:
        raise NotPlain


# -- items -----------------------------------------------------------------------------------------


def item(interp: Interpreter, array: Array, key: Value, made: Value) -> Value:
    """``array[key]``: a view, or a copy where an array is the index."""
    view = _view(array)
    if view is None:
        return made
    try:
        if view.places is None:
            raise NotPlain
        with _asking(interp):
            return _settled(made, _looked_at(array, view.places[_lowered(interp, key)]))
    except NotPlain:
        return _linked(made, array)


def put(interp: Interpreter, array: Array, key: Value, value: Value) -> None:
    """``array[key] = value``"""

    def write(held: Any) -> None:
        held[_lowered(interp, key)] = _lowered(interp, value)

    _written(interp, array, write)


def updated(interp: Interpreter, array: Array, result: Value) -> None:
    """``array += …``, of which the result is known."""

    def write(held: Any) -> None:
        made = of(result) if isinstance(result, Array) else None
        if made is None or not library().can_cast(made.dtype, held.dtype, "same_kind"):
            raise NotPlain
        held[...] = made

    _written(interp, array, write)


def _written(interp: Interpreter, array: Array, write: Callable[[Any], Any]) -> None:
    """Do something to the elements of an array, and keep what became of them."""
    view = _view(array)
    if view is None:
        return
    try:
        held = of(array)
        if held is None or view.places is None:
            raise NotPlain
        if not view.places.flags.writeable:
            exceptions.throw(interp, exceptions.made("builtins.ValueError", (UNKNOWN,)))
            raise NotPlain
        changed = library().array(held)
        with _asking(interp):
            write(changed)
        whole = _held(view.memories[0]).copy()
        whole[view.places] = changed
        interp.heap.set(view.memories[0].slots, "numbers", Numbers(whole.dtype.str, whole.tobytes()))
    except NotPlain:
        forget(interp, (array,))


# -- functions and methods -------------------------------------------------------------------------


def asked(interp: Interpreter, name: str, call: Arguments, made: Value) -> Value:
    """The result of a function of NumPy's, `made` as the model of its shape has it."""
    every = (*call.args, *call.kwargs.values())
    if library() is None:
        return made
    function = _MEMORY.get(name)
    if function is not None:
        return function(call, made)
    base, _, last = name.rpartition(".")
    if name in _WRITERS or (last == "at" and base in _UFUNCS):
        _called_on(interp, name, call)
        return None
    if name == "array" and "copy" in call.kwargs:
        return _linked(made, *every)
    if name in _VIEWS or (name in _SAME and name != "array") or (name == "diag" and _is_matrix(call.first)):
        return _of_view(interp, name, call, made)
    is_known = name in _PURE or name in _SIZED or name in _GROWING or name == "array"
    if (
        not is_known
        and not (last in ("reduce", "accumulate") and base in _REDUCED)
        and name not in array_dtypes.NUMERIC
    ):
        if not _is_of_types(name):
            forget(interp, every)
        return _linked(made, *every)
    try:
        args, kwargs = _arguments(interp, call)
        if name in _SIZED and not _makes_little(name, args, kwargs, made):
            raise NotPlain
        if name in _GROWING:
            _stays_small(*args)
        _takes_little(name, args, kwargs)
        with _asking(interp) as numpy:
            found = operator.attrgetter(name)(numpy)(*args, **kwargs)
        return _settled(made, _lifted(found))
    except NotPlain:
        _forget_outputs(interp, call, _inputs(name))
        return made


def _takes_little(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Nothing is computed whose size or time a number decides, such as `bins`, or that several arguments broadcast to."""
    given = (*args, *kwargs.values())
    if name in _COUNTING and ("shape" in kwargs or any(type(one) is int and one > MAX_ELEMENTS for one in given)):
        raise NotPlain
    shapes = [library().shape(one)[::-1] for one in given if isinstance(one, library().ndarray)]
    if math.prod(max(sizes) for sizes in zip_longest(*shapes, fillvalue=1)) > MAX_STEPS:
        raise NotPlain


def _inputs(name: str) -> int:
    """How many arguments by place a function only reads."""
    try:
        found = operator.attrgetter(name)(library())
    except AttributeError:
        return 0
    return as_kind(getattr(found, "nin", None), int) or 2


def _forget_outputs(interp: Interpreter, call: Arguments, inputs: int) -> None:
    """NumPy may have written to what it was given for its result."""
    forget(interp, (*call.args[inputs:], *(call.kwargs[name] for name in ("out",) if name in call.kwargs)))


def _is_matrix(value: Value) -> bool:
    return isinstance(value, Array) and value.spec.rank == 2


def _is_of_types(name: str) -> bool:
    return name in array_dtypes.ALIASES or name == "dtype" or name.startswith("random.") and "shuffle" not in name


def _makes_little(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], made: Value) -> bool:
    if name == "repeat":
        counts = args[1] if len(args) > 1 else kwargs.get("repeats", 0)
        total = int(library().sum(counts)) * (max(library().size(args[0]), 1) if library().size(counts) == 1 else 1)
        return total <= MAX_ELEMENTS
    if name == "bincount":
        least = kwargs.get("minlength", args[2] if len(args) > 2 else 0)
        return max(least, *library().ravel(args[0]), 0) <= MAX_ELEMENTS
    shape = made.spec.shape if isinstance(made, Array) else None
    return (
        shape is not None
        and all(isinstance(size, int) for size in shape)
        and math.prod(of_kind(shape, int)) <= MAX_ELEMENTS
    )


def _of_view(interp: Interpreter, name: str, call: Arguments, made: Value) -> Value:
    """A function whose result may be a view of its first argument."""
    first = as_kind(interp.resolved(call.first), Array) if call.args else None
    view = _view(first) if first is not None else None
    try:
        if first is None or view is None or view.places is None:
            if first is not None:
                raise NotPlain
            args, kwargs = _arguments(interp, call)
            with _asking(interp) as numpy:
                return _settled(made, _lifted(getattr(numpy, name)(*args, **kwargs)))
        rest, kwargs = _arguments(interp, Arguments(call.args[1:], call.kwargs, call.node, call.frame))
        if (name in _SAME or name.startswith("atleast")) and (rest or kwargs):
            raise NotPlain
        if name == "broadcast_to" and not _makes_little(name, rest, kwargs, made):
            raise NotPlain
        with _asking(interp) as numpy:
            found = getattr(numpy, name)(view.places, *rest, **kwargs)
        return _settled(made, _looked_at(first, found))
    except NotPlain:
        return _linked(made, *call.args)


def _called_on(interp: Interpreter, name: str, call: Arguments) -> None:
    """A function that writes to its first argument."""
    first = as_kind(call.first, Array) if call.args else None
    if first is None:
        return

    def write(held: Any) -> None:
        args, kwargs = _arguments(interp, Arguments(call.args[1:], call.kwargs, call.node, call.frame))
        operator.attrgetter(name)(library())(held, *args, **kwargs)

    _written(interp, first, write)


def method(interp: Interpreter, array: Array, name: str, call: Arguments, made: Value) -> Value:
    """The result of a method of an array."""
    view = _view(array)
    if view is None:
        return made
    if name in _WRITING:

        def write(held: Any) -> None:
            args, kwargs = _arguments(interp, call)
            getattr(held, name)(*args, **kwargs)

        _written(interp, array, write)
        return made
    try:
        if name == "view" and not call.args and not call.kwargs and view.places is not None:
            return _settled(made, _looked_at(array, view.places))
        if name in ("view", "resize", "itemset", "setfield", "byteswap", "setflags", "tofile"):
            raise NotPlain
        if name in _VIEWS:
            args, kwargs = _arguments(interp, call)
            if view.places is None:
                raise NotPlain
            with _asking(interp):
                found = getattr(view.places, name)(*args, **kwargs)
            return _settled(made, _looked_at(array, found))
        if name not in _METHODS:
            raise NotPlain
        held = _lowered(interp, array)
        args, kwargs = _arguments(interp, call)
        if name == "repeat" and not _makes_little(name, (held, *args), kwargs, made):
            return made
        with _asking(interp):
            return _settled(made, _lifted(getattr(held, name)(*args, **kwargs)))
    except NotPlain:
        if name in ("resize", "itemset", "setfield", "byteswap"):
            forget(interp, (array,))
        _forget_outputs(interp, call, 1)
        return _linked(made, array) if name in _VIEWS or name == "view" else made


def turned(array: Array, made: Value) -> Value:
    """``array.T``"""
    view = _view(array)
    try:
        if view is None or view.places is None:
            raise NotPlain
        return _settled(made, _looked_at(array, view.places.T))
    except NotPlain:
        return _linked(made, array)


def strides(array: Array) -> tuple[int, ...] | None:
    """``array.strides``"""
    view, held = _view(array), of(array)
    if view is None or held is None:
        return None
    return tuple(stride // view.places.itemsize * held.itemsize for stride in view.places.strides)


def base(array: Array) -> Value:
    """``array.base``: the array of which this one is a view."""
    view = _view(array)
    if view is None or not view.is_part:
        return UNKNOWN
    return _linked(Array(TensorSpec(None, array.spec.dtype, CPU, False)), array)


def listed(array: Array) -> Value:
    """``array.tolist()``; UNKNOWN where the content is not known."""
    held = of(array)
    return UNKNOWN if held is None else _plain(held.tolist())


def _plain(value: Any) -> Value:
    return ListValue(tuple(map(_plain, value))) if isinstance(value, list) else value


def _share(call: Arguments, made: Value) -> Value:
    """``np.shares_memory(one, other)``"""
    sides = of_kind(call.args[:2], Array)
    views = [_view(side) for side in sides]
    if len(sides) < 2 or any(view is None or view.places is None for view in views):
        return made
    one, other = of_kind(views, View)
    if one.memories[0] is not other.memories[0]:
        return False
    return bool(library().intersect1d(one.places, other.places).size)


_MEMORY: dict[str, Callable[[Arguments, Value], Value]] = {"shares_memory": _share}


__all__ = [
    "asked",
    "base",
    "copied",
    "forget",
    "item",
    "listed",
    "method",
    "negated",
    "number",
    "of",
    "operated",
    "put",
    "strides",
    "turned",
    "updated",
]

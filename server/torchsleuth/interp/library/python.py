"""Python's own: builtin functions, decorators, context managers, dataclasses, methods of containers."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any

from torchsleuth.interp import autocast, demands, exceptions, kinds, limits, misuse, special, streams, unset
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import (
    arrays,
    classes,
    configuration,
    contexts,
    dictionaries,
    dispatching,
    draws,
    files,
    groups,
    lookups,
    optim,
    parameters,
    pure,
    records,
    scalars,
    transforms,
)
from torchsleuth.interp.models import of_class
from torchsleuth.interp.pipeline import LOADER
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax.forms import callee, is_attribute, last_word, names_in
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size
from torchsleuth.tensors.spec import DType, Native, Parameter
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Bound,
    Builtin,
    ClassValue,
    DictValue,
    Function,
    Globals,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Managed,
    Maybe,
    NamedResult,
    Namespace,
    Partial,
    Record,
    Scalar,
    Several,
    SliceValue,
    Slots,
    Super,
    Tensor,
    Value,
    Wrapped,
    is_int,
    is_native,
    is_native_kind,
    is_object,
    is_of,
    is_plain,
    is_tuple,
    is_unknown,
    numbers_of,
    of_range,
    sizes_of,
    tuple_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

_BUILTINS: dict[str, Callable[[Interpreter, Arguments], Value]] = {}
_TYPES = "int float str bool list tuple dict set frozenset bytes complex type object slice".split()
_OTHERS = frozenset(
    "NotImplemented Exception BaseException StopIteration KeyboardInterrupt SystemExit GeneratorExit ExceptionGroup "
    "BaseExceptionGroup".split()
)
_EXHAUSTING = frozenset("list tuple set frozenset dict sum sorted max min".split())
"""Functions that go through an iterator to its end."""
_ITERATORS = frozenset("zip map filter enumerate reversed".split())
"""Functions that give an iterator."""
MAX_RANGE = 4096
MAX_DIGITS = 1000
"""Characters of a text that is read as an integer."""


def _model(name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        _BUILTINS[name] = function
        return function

    return register


def builtin(name: str) -> Value:
    """The value of a builtin name; unknown where it is not modelled."""
    if name in _BUILTINS or name in _TYPES or name.endswith("Error") or name in _OTHERS:
        return Native(f"builtins.{name}", "builtin")
    return ... if name == "Ellipsis" else UNKNOWN


def call_builtin(interp: Interpreter, name: str, call: Arguments) -> Value:
    if f"builtins.{name}" in groups.PATHS:
        return groups.Group.made(interp, replace(call, callee=Native(f"builtins.{name}", "builtin")))
    if exceptions.class_named(f"builtins.{name}") is not None:
        return exceptions.made(f"builtins.{name}", call.args, interp.site(call.node, call.frame))
    model = _BUILTINS.get(name)
    if model is None:
        return UNKNOWN
    own = _of_object(interp, name, call)
    if own is not special.ABSENT:
        return own
    if name in _EXHAUSTING and call.args:
        misuse.consume(interp, call.args[0], call.node, call.frame)
    known = pure.function(interp, f"builtins.{name}", call)
    if known is not pure.ABSENT:
        return known
    made = model(interp, call) if call.exact else UNKNOWN
    return misuse.iterator(interp, made, call.node, call.frame) if name in _ITERATORS else made


_CALLS_METHOD = {
    "round": "__round__", "abs": "__abs__", "float": "__float__", "complex": "__complex__", "reversed": "__reversed__",
    "hash": "__hash__", "bytes": "__bytes__",
}  # fmt: skip
"""By the name of a function: the special method that it calls."""


def _of_object(interp: Interpreter, name: str, call: Arguments) -> Value:
    """The result of a builtin that asks an object of the user's; ABSENT for others."""
    value = call.first
    if not isinstance(value, Instance) or not call.exact or call.kwargs:
        return special.ABSENT
    if name in _CALLS_METHOD:
        return special.call(interp, value, _CALLS_METHOD[name], call.args[1:], call.frame)
    if name == "divmod" and len(call.args) == 2:
        return special.binary(interp, name, value, call.args[1], call.frame, False)
    if name == "int" and len(call.args) == 1:
        made = special.call(interp, value, "__int__", (), call.frame)
        return special.call(interp, value, "__index__", (), call.frame) if made is special.ABSENT else made
    if name in ("hex", "oct", "bin", "chr"):
        number = special.call(interp, value, "__index__", (), call.frame)
        return call_builtin(interp, name, replace(call, args=(number,))) if isinstance(number, int) else special.ABSENT
    return special.ABSENT


@_model("len")
def _len(interp: Interpreter, call: Arguments) -> Value:
    from torchsleuth.interp.library import data

    value = call.given(0, "obj")
    if call.expression is not None and call.expression.args:
        kinds.uses(interp, value, "len", call.expression.args[0], call.frame)
    if isinstance(value, Instance):
        made = special.length(interp, value, call.frame)
        if made is not special.ABSENT and not is_unknown(made):
            return made
    tensor = isinstance(value, Tensor)
    if isinstance(value, Tensor) and interp.resolved_spec(value.spec).shape == ():
        interp.operate("Tensor.__len__", (value,), {}, call.node, call.frame)
    length = data.measured(interp, value, call.node, call.frame)
    return interp.fresh_size("?", positive=tensor) if length is None else length


@_model("range")
def _range(interp: Interpreter, call: Arguments) -> Value:
    for given in call.args:
        demands.as_number(interp, given, "index", call.node, call.frame)
    kinds.numbers(interp, (Parameter("range", "place", True),) * len(call.args), call)
    bounds = [draws.plain_number(interp, interp.resolved(value)) for value in call.args]
    if all_are(bounds, int) and bounds:
        try:
            numbers = range(*bounds)
        except (TypeError, ValueError):
            return UNKNOWN
        if not numbers[MAX_RANGE:]:
            return of_range(numbers)
        return ListValue(Several((numbers[0], numbers[1], interp.fresh_size("?", positive=False))), "range")
    for bound in filter(is_int, bounds):
        interp.goes_around(bound)
    start = bounds[0] if len(bounds) > 1 else 0
    elements = (start if is_int(start) else 0, interp.fresh_size("?", positive=False))
    sizes = sizes_of((start, *bounds[-1:]))
    count = dims.subtract(sizes[-1], sizes[0]) if sizes is not None and 0 < len(bounds) < 3 else None
    counted = count is not None and dims.positive(count) == 1
    return ListValue(Several.counted(elements, count if counted else None), "range")


@_model("enumerate")
def _enumerate(interp: Interpreter, call: Arguments) -> Value:
    start = call.given(1, "start", 0)
    if not isinstance(start, int):
        start = 0
    source = call.given(0, "iterable")
    if isinstance(source, streams.Stream):
        return streams.made_of(enumerate(streams.each(interp, source, call.node, call.frame), start), ())
    iteration = interp.iterate(source, call.node, call.frame)
    if iteration.exact:
        return _rows(interp, call, (source,), (iteration,), lambda items: tuple(enumerate(items[0], start)))
    first = (start, iteration.items[0])
    rest = (_later(interp, start), interp.any_of(iteration.items))
    last = None
    if iteration.last is not None:
        # Where there is a last one that differs from the first, it is another one.
        count = as_kind(iteration.count, int)
        place = start + count - 1 if count is not None and count > 1 else _later(interp, start)
        last = (place, iteration.last)
    return _stream(Iteration((first, rest), False, iteration.over_loader, last, iteration.count, iteration.loader))


def _rows(
    interp: Interpreter,
    call: Arguments,
    sources: tuple[Value, ...],
    iterations: tuple[Iteration, ...],
    joined: Callable[[list[tuple[Value, ...]]], tuple[Value, ...]],
) -> ListValue:
    """An iterator over what is `joined` of the elements of containers, which it looks into as it goes."""

    def rows() -> tuple[Value, ...] | None:
        held = [
            one.items if isinstance(one, ListValue) and one.once is None else iteration.items
            for one, iteration in zip(sources, iterations)
        ]
        known = [items for items in held if items is not None]
        return joined(known) if len(known) == len(held) else None

    return streams.Rows(rows, *(one for one in of_kind(sources, ListValue) if one.once is None))


def _later(interp: Interpreter, start: int) -> Size:
    """The number of an element that is not the first."""
    return dims.add(start, interp.fresh_size("?"))


def _stream(iteration: Iteration) -> ListValue:
    """An iterator whose elements are not all known."""
    value = ListValue(Several(iteration.items), "iterator")
    value.slots["iteration"] = iteration
    return value


@_model("zip")
def _zip(interp: Interpreter, call: Arguments) -> Value:
    # An iterator that is longer than another one goes on where that has ended.
    streamed = any(value.once is not None for value in of_kind(call.args, ListValue))
    if streamed or len({id(value) for value in call.args}) < len(call.args):
        known = pure.zipped(interp, call)
        if known is not pure.ABSENT:
            return known
    iterations = [interp.iterate(value, call.node, call.frame) for value in call.args]
    if not iterations:
        return ListValue(())
    # The shortest one ends it; where only some lengths are known, the others stand for as many as needed.
    exact = [iteration for iteration in iterations if iteration.exact]
    if len(exact) == len(iterations):
        if call.kwargs.get("strict") is True and len({len(iteration.items) for iteration in iterations}) > 1:
            return streams.made_of(_strictly(interp, iterations), ())
        return _rows(interp, call, call.args, tuple(iterations), lambda items: tuple(zip(*items)))
    last = [() if iteration.last is None else (iteration.last,) for iteration in iterations]
    rows = [(*iteration.items, *end) or (UNKNOWN,) for iteration, end in zip(iterations, last)]
    items = (tuple(row[0] for row in rows), tuple(interp.any_of(row) for row in rows))
    over_loader = any(iteration.over_loader for iteration in iterations)
    return _stream(Iteration(items if any(len(row) > 1 for row in rows) else items[:1], False, over_loader))


def _strictly(interp: Interpreter, iterations: list[Iteration]) -> Iterator[Value]:
    """``zip(…, strict=True)`` of iterables of which one is shorter."""
    yield from zip(*(iteration.items for iteration in iterations))
    exceptions.throw(interp, exceptions.made("builtins.ValueError", (UNKNOWN,)))


def transposed(interp: Interpreter, path: str, rows: Value, node: ast.AST, frame: Frame) -> Value | None:
    """``zip(*rows)`` for rows whose number is not known; None for any other call."""
    if path != "builtins.zip":
        return None
    iteration = interp.iterate(rows, node, frame)
    tuples = [interp.sequence(row, node, frame) for row in of_kind(iteration.items, tuple, ListValue)]
    if len(tuples) != len(iteration.items) or any(row is None for row in tuples) or iteration.last is not None:
        return None
    columns = list(zip(*(row for row in tuples if row is not None)))
    return ListValue(tuple(ListValue(interp.heap.several(column)) for column in columns))


@_model("reversed")
def _reversed(interp: Interpreter, call: Arguments) -> Value:
    sequence = call.given(0, "sequence")
    if isinstance(sequence, ListValue) and isinstance(sequence.elements, Several) and "iteration" not in sequence.slots:
        # They stand for elements anywhere in it.
        return ListValue(sequence.elements)
    iteration = interp.iterate(sequence, call.node, call.frame)
    if not iteration.exact:
        return ListValue(None)
    count = len(iteration.items)
    return _rows(interp, call, (sequence,), (iteration,), lambda items: tuple(reversed(items[0][:count])))


@_model("sorted")
def _sorted(interp: Interpreter, call: Arguments) -> Value:
    iteration = interp.iterate(call.given(0, "iterable"), call.node, call.frame)
    items = iteration.items
    if not iteration.exact:
        return ListValue(None if UNKNOWN in items else Several.counted(interp.heap.several(items), iteration.count))
    keyed(interp, call, items)
    known: list[Any] = [item for item in items if isinstance(item, str | int | float)]
    if "key" not in call.kwargs and len(known) == len(items):
        try:
            return ListValue(tuple(sorted(known, reverse=call.kwargs.get("reverse") is True)))
        except TypeError:
            return ListValue(None)
    return ListValue((interp.any_of(items),) * len(items))


@_model("list")
def _list(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return ListValue(())
    iteration = interp.iterate(call.args[0], call.node, call.frame)
    if not iteration.exact:
        elements = iteration.items if iteration.last is None else (*iteration.items, iteration.last)
        return ListValue(Several.counted(elements, iteration.count) if UNKNOWN not in elements else None)
    return ListValue(_in_any_order(interp, call.args[0], iteration.items))


def _in_any_order(interp: Interpreter, value: Value, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """The elements of a set in the order in which Python goes through it: only that of numbers is always the same."""
    unordered = isinstance(value, ListValue) and value.type_name in ("set", "frozenset") and len(items) > 1
    if not unordered or UNKNOWN in items or all_are(items, int, float):
        return items
    return (interp.any_of(items),) * len(items)


@_model("tuple")
def _tuple(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return ()
    items = interp.sequence(call.args[0], call.node, call.frame)
    return UNKNOWN if items is None or limits.is_large(items) else _in_any_order(interp, call.args[0], items)


def make_set(interp: Interpreter, elements: tuple[Value, ...] | None) -> ListValue:
    """The set of these elements: each once, where they can be told apart."""
    if elements is None or isinstance(elements, Several):
        return ListValue(None if elements is None else Several(elements), "set")
    if all(is_plain(item) for item in elements):
        numbers = all_are(elements, int, float)
        return ListValue(tuple(set(elements) if numbers else dict.fromkeys(elements)), "set")
    if dictionaries.is_key(elements):
        return ListValue(tuple(dict.fromkeys(elements)), "set")
    return ListValue(interp.heap.several(elements), "set")


@_model("set")
def _set(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return ListValue((), "set")
    iteration = interp.iterate(call.args[0], call.node, call.frame)
    if iteration.exact:
        return make_set(interp, iteration.items)
    return ListValue(None if UNKNOWN in iteration.items else interp.heap.several(iteration.items), "set")


@_model("frozenset")
def _frozenset(interp: Interpreter, call: Arguments) -> Value:
    made = _set(interp, call)
    made.type_name = "frozenset"
    return made


@_model("dict")
def _dict(interp: Interpreter, call: Arguments) -> Value:
    return dictionaries.construct(interp, call)


def read_later(
    parts: Iterable[ast.AST], scopes: tuple[Slots, ...], names: Slots
) -> tuple[tuple[Slots, str, Value], ...]:
    """The variables that code reads which is executed later, with what they are now."""
    found = []
    for name in names_in(*parts):
        scope = next((one for one in (*scopes, names) if name in one), None)
        if scope is not None and not isinstance(scope[name], Function | ClassValue | Native | Namespace):
            found.append((scope, name, scope[name]))
    return tuple(found)


def _one_by_one(interp: Interpreter, call: Arguments, now: Callable[[], Value], later: Callable[..., Any]) -> Value:
    """The results of ``map()`` and ``filter()``. `later`: makes the elements out of those of their sources."""
    function, *sources = call.args or (UNKNOWN,)

    def made_now() -> Value:
        made = now()
        if isinstance(made, ListValue) and isinstance(function, Function):
            body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
            made.reads = read_later(body, function.closure, function.globals)
            plain = [one for one in of_kind(sources, ListValue) if one.once is None]
            made.reads += streams.reads_of(*plain)
        return made

    def made_later() -> Any:
        return later(*(streams.each(interp, one, call.node, call.frame) for one in sources))

    return streams.lazy(interp, made_now, made_later, tuple(sources))


def _told_apart(interp: Interpreter, call: Arguments) -> Arguments:
    """``map(id, model.parameters())``: the parameters one by one, where the function asks which one it is given."""
    if not call.args or not parameters.asks_identity(call.args[0]):
        return call
    listed = [parameters.listed(interp, source) for source in call.args[1:]]
    sources = (source if one is None else ListValue(one) for source, one in zip(call.args[1:], listed))
    return replace(call, args=(call.args[0], *sources))


@_model("map")
def _map(interp: Interpreter, call: Arguments) -> Value:
    call = _told_apart(interp, call)

    def later(*sources: Iterator[Value]) -> Iterator[Value]:
        for items in zip(*sources):
            yield interp.call(call.args[0], Arguments(items, {}, call.node, call.frame))

    return _one_by_one(interp, call, lambda: _mapped(interp, call), later)


def _mapped(interp: Interpreter, call: Arguments) -> Value:
    iterations = [interp.iterate(value, call.node, call.frame) for value in call.args[1:]]
    exact = all(iteration.exact for iteration in iterations)
    if not iterations or (not exact and (len(iterations) > 1 or UNKNOWN in iterations[0].items)):
        return ListValue(None)
    results = tuple(
        interp.call(call.args[0], Arguments(items, {}, call.node, call.frame))
        for items in zip(*(iteration.items for iteration in iterations))
    )
    return ListValue(results if exact else interp.heap.several(results))


@_model("filter")
def _filter(interp: Interpreter, call: Arguments) -> Value:
    test = call.given(0, "function")

    def later(source: Iterator[Value]) -> Iterator[Value]:
        for item in source:
            kept = item if test is None else interp.call(test, Arguments((item,), {}, call.node, call.frame))
            verdict = interp.truth(kept)
            if verdict is None:
                raise streams.Lost
            if verdict:
                yield item

    told_apart = _told_apart(interp, call)
    if told_apart is not call:
        kept = as_kind(_filtered(interp, told_apart), ListValue)
        if kept is not None and kept.items is not None:
            return kept
    return _one_by_one(interp, call, lambda: _filtered(interp, call), later)


def _filtered(interp: Interpreter, call: Arguments) -> Value:
    iteration = interp.iterate(call.given(1, "iterable"), call.node, call.frame)
    test = call.given(0, "function")
    if UNKNOWN in iteration.items:
        return ListValue(None)
    verdicts = [
        interp.truth(item if test is None else interp.call(test, Arguments((item,), {}, call.node, call.frame)))
        for item in iteration.items
    ]
    kept = tuple(item for item, verdict in zip(iteration.items, verdicts) if verdict is not False)
    exact = iteration.exact and None not in verdicts
    return ListValue(kept if exact else interp.heap.several(kept), "iterator")


@_model("int")
def _int(interp: Interpreter, call: Arguments) -> Value:
    value = records.plain(interp.resolved(call.args[0])) if call.args else 0
    if isinstance(value, Array) and (known := scalars.of(value)) is not None:
        value = known
    if isinstance(value, str) and len(value) > MAX_DIGITS:
        return UNKNOWN
    if isinstance(value, bool | int | float | str):
        try:
            return int(value)
        except (ValueError, OverflowError):
            return UNKNOWN
    if isinstance(value, Tensor | Array):
        demands.as_number(interp, value, "int", call.node, call.frame)
        return draws.number(interp, value)
    kinds.read_as_number(interp, value, call)
    if isinstance(value, Scalar) and value.ratio is not None and interp.is_inferring():
        return dims.floor_divide(*map(interp.resolved, value.ratio))
    return value if isinstance(value, Dim) else interp.fresh_size("?", positive=False)


@_model("float")
def _float(interp: Interpreter, call: Arguments) -> Value:
    value = call.args[0] if call.args else 0.0
    if isinstance(value, Array) and (known := scalars.of(value)) is not None:
        value = known
    if isinstance(value, bool | int | float | str):
        try:
            return float(value)
        except ValueError:
            return Scalar("float")
    kinds.read_as_number(interp, value, call)
    demands.as_number(interp, value, "float", call.node, call.frame)
    cut = interp.cut(value, "float", interp.site(call.node, call.frame)) if isinstance(value, Tensor) else None
    return Scalar("float", value.cut if isinstance(value, Scalar) else cut)


@_model("bool")
def _bool(interp: Interpreter, call: Arguments) -> Value:
    demands.as_number(interp, call.args[0] if call.args else False, "bool", call.node, call.frame)
    decided = interp.truth(call.args[0]) if call.args else False
    return Scalar("bool") if decided is None else decided


@_model("str")
def _str(interp: Interpreter, call: Arguments) -> Value:
    value = call.args[0] if call.args else ""
    if isinstance(value, Native) and (value.kind == "builtin" or value.path == "torch.Tensor"):
        return f"<class '{value.path.removeprefix('builtins.')}'>"
    return str(value) if isinstance(value, str | int | float | bool) else Scalar("str")


for _name in ("repr", "format", "chr", "hex", "bin", "ascii", "input"):
    _BUILTINS[_name] = lambda interp, call: Scalar("str")


@_model("slice")
def _slice(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) == 1:
        return SliceValue(None, call.args[0], None)
    return SliceValue(*call.args, *(None,) * (3 - len(call.args))) if 1 < len(call.args) < 4 else UNKNOWN


for _name in ("complex", "bytes", "oct"):
    _BUILTINS[_name] = lambda interp, call: UNKNOWN


@_model("ord")
def _ord(interp: Interpreter, call: Arguments) -> Value:
    value = as_kind(call.first, str)
    return ord(value) if value is not None and len(value) == 1 else interp.fresh_size("?", positive=False)


@_model("print")
def _print(interp: Interpreter, call: Arguments) -> Value:
    file = as_kind(call.kwargs.get("file"), LibraryObject)
    if file is not None and "text" in file.slots:
        interp.heap.set(file.slots, "text", None)
    return None


@_model("abs")
def _abs(interp: Interpreter, call: Arguments) -> Value:
    value = call.first
    if isinstance(value, Tensor):
        return interp.operate("torch.abs", (value,), {}, call.node, call.frame)
    if isinstance(value, bool | int | float | complex):
        return abs(value)
    return Scalar("float", arrays.left_graph(value))


@_model("round")
def _round(interp: Interpreter, call: Arguments) -> Value:
    value = call.first
    digits = call.given(1, "ndigits")
    if isinstance(digits, int) and abs(digits) > MAX_DIGITS:
        return UNKNOWN
    if isinstance(value, int | float) and isinstance(digits, int | type(None)):
        try:
            return round(value, digits)
        except (ValueError, OverflowError):
            return UNKNOWN
    if digits is None:
        return interp.fresh_size("?", positive=False)
    return Scalar("float", arrays.left_graph(value))


@_model("divmod")
def _divmod(interp: Interpreter, call: Arguments) -> Value:
    left, right = (interp.resolved(value) for value in call.args[:2])
    return (
        interp.binary(ast.FloorDiv, left, right, call.node, call.frame),
        interp.binary(ast.Mod, left, right, call.node, call.frame),
    )


@_model("pow")
def _pow(interp: Interpreter, call: Arguments) -> Value:
    return interp.binary(ast.Pow, call.args[0], call.args[1], call.node, call.frame) if len(call.args) == 2 else UNKNOWN


@_model("issubclass")
def _issubclass(interp: Interpreter, call: Arguments) -> Value:
    cls, kinds_ = call.args if len(call.args) == 2 else (UNKNOWN, UNKNOWN)
    verdicts = [classes.is_subclass(interp, cls, kind, call.frame) for kind in tuple_of(kinds_)]
    return True if True in verdicts else Scalar("bool") if None in verdicts else False


def keyed(interp: Interpreter, call: Arguments, items: tuple[Value, ...]) -> None:
    """Call the ``key=`` function with elements that stand for those it will see."""

    key = as_kind(call.kwargs.get("key"), Function, Bound)
    if key is not None and UNKNOWN not in items:
        for item in interp.heap.several(items):
            interp.call(key, Arguments((item,), {}, call.node, call.frame))


MAX_COMPARED = 4
"""Sizes that are not known of which the greatest is one that tells of them."""


def _extremum(name: str) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        values: tuple[Value, ...] | None = call.args
        if len(call.args) == 1:
            values = interp.sequence(call.args[0], call.node, call.frame)
        if not values:
            return UNKNOWN
        if "key" in call.kwargs:
            keyed(interp, call, values)
            return interp.any_of(values) if UNKNOWN not in values else UNKNOWN
        values = tuple(interp.resolved(value) for value in values)
        numbers, given = numbers_of(values), sizes_of(values)
        if numbers is not None:
            return max(numbers) if name == "max" else min(numbers)
        if given is not None:
            sizes = tuple(dict.fromkeys(given))
            if len(sizes) > MAX_COMPARED:
                # The longest of a batch of sequences: a size of its own, the same for the same lengths.
                positive = name == "max" and any(size > 0 for size in of_kind(sizes, int))
                key = (name, frozenset(sizes))
                if key not in interp.numbers.extrema:
                    interp.numbers.extrema[key] = interp.fresh_size("?", positive)
                return interp.numbers.extrema[key]
            return functools.reduce(functools.partial(dims.extremum, name), sizes)
        if not all_are(values, int, float, Scalar):
            return UNKNOWN
        return Scalar("float", arrays.left_graph(values))

    return model


_BUILTINS["max"] = _extremum("max")
_BUILTINS["min"] = _extremum("min")


@_model("sum")
def _sum(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return UNKNOWN
    iteration = interp.iterate(call.args[0], call.node, call.frame)
    total = call.given(1, "start", 0)
    for item in iteration.items:
        total = interp.binary(ast.Add, total, item, call.node, call.frame)
    # However many there are, the sum is of the same kind.
    return total if iteration.exact or isinstance(total, Tensor) or is_of(total, float) else UNKNOWN


def _quantifier(name: str) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        value = call.first
        if streams.is_live(value) and value.once is not None:
            return _first_decisive(interp, value, name == "any")
        items = interp.sequence(value, call.node, call.frame) if call.args else None
        if items is None:
            return Scalar("bool")
        truths = [interp.truth(item) for item in items]
        if name == "any":
            return True if True in truths else Scalar("bool") if None in truths else False
        return False if False in truths else Scalar("bool") if None in truths else True

    return model


def _first_decisive(interp: Interpreter, value: ListValue, wanted: bool) -> Value:
    """``any(iterator)`` or ``all(iterator)``, which go as far as to the first element that decides, and leave the rest."""
    open_before = False
    try:
        for item in streams.live(interp, value):
            verdict = interp.truth(item)
            open_before = open_before or verdict is None
            if verdict is wanted:
                if open_before and value.items is not None:
                    # How far it goes is not known.
                    interp.heap.set(value.slots, "items", interp.heap.several(value.items) if value.items else None)
                return wanted
    except streams.Lost:
        return Scalar("bool")
    return Scalar("bool") if open_before else not wanted


_BUILTINS["any"] = _quantifier("any")
_BUILTINS["all"] = _quantifier("all")


@_model("isinstance")
def _isinstance(interp: Interpreter, call: Arguments) -> Value:
    decided = is_instance(interp, call.given(0, "obj"), call.given(1, "class"))
    return Scalar("bool") if decided is None else decided


def is_instance(interp: Interpreter, value: Value, types: Value) -> bool | None:
    """Whether a value is an instance of a class, or of one in a tuple; None where that is not known."""
    verdicts = [_is_instance(interp, value, kind) for kind in tuple_of(types)]
    return True if True in verdicts else None if None in verdicts else False


def _is_instance(interp: Interpreter, value: Value, kind: Value) -> bool | None:
    value = interp.resolved(value)
    if isinstance(value, Wrapped):
        return kind.path in interp.oracle.mro(value.path) if isinstance(kind, Native) else None
    if is_unknown(value) or is_unknown(kind):
        return None
    told = classes.asked_of_metaclass(interp, kind, "__instancecheck__", (value,), interp.running)
    if told is not special.ABSENT:
        return interp.truth(told)
    if isinstance(value, LibraryObject) and exceptions.is_exception(value):
        return exceptions.catches(kind, value)
    if isinstance(kind, ClassValue) and classes.is_protocol(kind):
        return classes.fits_protocol(interp, value, kind)
    if isinstance(value, NamedResult) and isinstance(kind, ClassValue):
        return value.of is not None and kind in value.of.mro()
    if isinstance(value, Instance):
        return _is_of_class(interp, value, kind)
    if not isinstance(kind, Native):
        return False if isinstance(kind, ClassValue) else None
    if kind.path == "torch.dtype":
        foreign = isinstance(value, Native) and value.path.startswith(("numpy.", "builtins."))
        plain = value is None or isinstance(value, str | int | float | tuple)
        return True if isinstance(value, DType) else False if foreign or plain else None
    if kind.path.startswith(_ABSTRACT):
        return _is_abstract(value, kind.path)
    name = kind.path.removeprefix("builtins.")
    if isinstance(value, LibraryModule | LibraryObject):
        return kind.path in interp.oracle.mro(value.path)
    if isinstance(value, Tensor):
        kinds = {"torch.Tensor": True, "torch.autograd.Variable": True, "torch.nn.Parameter": value.parameter}
        return kinds.get(kind.path, False)
    python: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool, "tuple": tuple}
    own = value.type if isinstance(value, Scalar) else _OWN_TYPES.get(type(value))
    if own is not None:
        return name == own
    if isinstance(value, ListValue):
        known = value.type_name in ("list", "set", "frozenset", "deque", "range") and value.once is None
        return name.rpartition(".")[2] == value.type_name if known else None
    if isinstance(value, DictValue):
        derived = isinstance(value, Record) and name == "collections.OrderedDict"
        return derived or name.rpartition(".")[2] in ("dict", value.type_name)
    types = _types_of_code(value)
    if types and kind.path.startswith(_NO_METACLASSES) and name != "callable":
        return name in types
    if name in python:
        return isinstance(value, python[name]) if value is None or isinstance(value, _PLAIN) else None
    if name in ("bytes", "complex") and isinstance(value, _PLAIN):
        return type(value).__name__ == name
    if name == "object":
        return True
    if value is None or isinstance(value, _PLAIN):
        return name == "NoneType" and value is None
    return None


def _is_of_class(interp: Interpreter, value: Instance, kind: Value) -> bool | None:
    """The same for an object of a class of the workspace's."""
    if value.cls.opaque:
        return None
    if isinstance(kind, Native) and kind.path.startswith(_ABSTRACT):
        return classes.is_abstract_collection(interp, value, kind.path)
    builtin_base = exceptions.class_of(value)
    if builtin_base is not None and isinstance(kind, Native):
        return exceptions.catches(kind, value)
    if is_native(kind, "builtins.object"):
        return True
    derived = any(
        base is kind or (isinstance(base, Native) and is_native(kind, *interp.oracle.mro(base.path)))
        for base in value.cls.mro()
    )
    if not derived and isinstance(kind, ClassValue):
        return classes.is_virtual(interp, value.cls, kind, interp.running)
    return derived


_OWN_TYPES: dict[type, str] = {Dim: "int", SliceValue: "slice"}


def _types_of_code(value: Value) -> tuple[str, ...]:
    """The types that a function, a class or what ``partial`` makes is an instance of, but for metaclasses; empty for other values."""
    match value:
        case Function(kind="property"):
            return "property", "object"
        case Function():
            return "types.FunctionType", "types.LambdaType", "object"
        case ClassValue() | Native(kind="module-class"):
            return "type", "object"
        case Partial():
            return "functools.partial", "object"
    return ()


_NO_METACLASSES = ("builtins.", "functools.", "types.", "torch.nn.")
_PLAIN = (str, int, float, bool, tuple, bytes, complex)


_ABSTRACT = ("numbers.", "collections.abc.", "typing.")
_OF_TENSORS = frozenset("Iterable Sized Container Collection Reversible Hashable".split())


def _is_abstract(value: Value, path: str) -> bool | None:
    """``isinstance(x, Iterable)``, as Python has it for its own values."""
    module, _, name = path.rpartition(".")
    kind = getattr(importlib.import_module(module), name, None)
    if isinstance(value, Tensor):
        return name in _OF_TENSORS
    example = _example(value)
    try:
        return None if is_unknown(example) or kind is None else isinstance(example, kind)
    except TypeError:
        return None


def _example(value: Value) -> Any:
    """A value of the same kind, UNKNOWN for what is not Python's own."""
    if is_plain(value):
        return value
    if is_tuple(value):
        return ()
    match value:
        case Scalar():
            return {"int": 0, "float": 0.0, "str": "", "bool": False}.get(value.type, UNKNOWN)
        case Dim():
            return 0
        case ListValue():
            return {"list": [], "set": set()}.get(value.type_name, UNKNOWN) if value.once is None else iter(())
    if isinstance(value, Function | ClassValue) or (is_native_kind(value, "builtin")):
        return abs
    return {} if isinstance(value, DictValue) else UNKNOWN


@_model("hasattr")
def _hasattr(interp: Interpreter, call: Arguments) -> Value:
    from torchsleuth.interp.library import data

    if call.given(1, "name") == "__len__" and data.lacks_length(interp, call.args[0]):
        return False
    owner, name = call.args[:2] if len(call.args) >= 2 else (UNKNOWN, UNKNOWN)
    if isinstance(owner, Wrapped) and isinstance(name, str):
        return True if name in interp.oracle.attributes(owner.path) or name == "module" else Scalar("bool")
    if isinstance(owner, ClassValue | Function) and isinstance(name, str):
        return _class_has(interp, owner, name)
    if isinstance(owner, Record) and isinstance(name, str):
        known = owner.has(name)
        return Scalar("bool") if known is None else known
    example = _example(interp.resolved(owner))
    if not is_unknown(example) and isinstance(name, str) and name != "numel":
        return hasattr(example, name)
    if isinstance(owner, Instance) and isinstance(name, str) and not owner.cls.opaque:
        if classes.answers(interp, owner, name):
            value = classes.asked_for(interp, owner, name, call)
            return False if value is special.ABSENT else Scalar("bool") if is_unknown(value) else True
        if name in owner.slots or interp.class_attribute(owner.cls, name) is not MISSING:
            return True
        if name == "__dict__":
            return not records.refuses(owner.cls, "")
        if classes.is_plain_attribute(name):
            return True
        if classes.lacks(interp, owner, name) or unset.lacks(interp, owner, name):
            return False
    if isinstance(owner, LibraryObject) and isinstance(name, str) and (found := has_attribute(owner, name)) is not None:
        return found
    if isinstance(owner, Native) and isinstance(name, str) and owner.kind != "external":
        if not is_unknown(interp.attribute(owner, name, call.node, call.frame)):
            return True
    return Scalar("bool")


def _class_has(interp: Interpreter, owner: ClassValue | Function, name: str) -> Value:
    """Whether a class, or a function, has an attribute."""
    if isinstance(owner, Function):
        # A decorator may have given it others.
        plain = owner.kind == "function" and not getattr(owner.node, "decorator_list", None) and owner.memo is None
        return name in owner.attributes or hasattr(FunctionType, name) or (not plain and Scalar("bool"))
    if interp.class_attribute(owner, name) is not MISSING or hasattr(type, name):
        return True
    known = owner.has_known_bases() and not owner.derives_from("enum.Enum") and owner.metaclass is None
    plain = all(keyword.arg not in (None, "metaclass") for keyword in owner.node.keywords)
    return False if known and plain and all_are(owner.mro(), ClassValue) else Scalar("bool")


@_model("getattr")
def _getattr(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) >= 2 and not isinstance(call.args[1], str) and is_native(call.args[0], "torch.optim"):
        return optim.some_class(interp)
    if len(call.args) < 2 or not isinstance(call.args[1], str):
        return UNKNOWN
    owner, name = call.args[0], call.args[1]
    if len(call.args) > 2 and isinstance(owner, LibraryObject) and has_attribute(owner, name) is False:
        return call.args[2]
    if len(call.args) > 2 and isinstance(owner, Record) and owner.has(name) is False:
        return call.args[2]
    if len(call.args) > 2 and isinstance(owner, Function | ClassValue) and _class_has(interp, owner, name) is False:
        return call.args[2]
    if len(call.args) > 2 and isinstance(owner, Instance) and classes.answers(interp, owner, name):
        value = classes.asked_for(interp, owner, name, call)
        return call.args[2] if value is special.ABSENT else value
    interp.guarded += len(call.args) > 2
    value = interp.attribute(owner, name, call.node, call.frame)
    interp.guarded -= len(call.args) > 2
    if is_unknown(value) and len(call.args) > 2 and isinstance(owner, Instance) and not owner.cls.opaque:
        if name not in owner.slots and interp.class_attribute(owner.cls, name) is MISSING and not owner.is_module:
            return call.args[2]
    return value


def has_attribute(owner: LibraryObject, name: str) -> bool | None:
    """Whether an object that only holds attributes has one, None for others."""
    if owner.path not in records.NAMESPACES:
        return None
    return True if name in owner.slots else None if owner.slots.get(OPEN) else False


OPEN = ("open",)
"""The slot of a namespace that may have further attributes."""


@_model("setattr")
def _setattr(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) == 3:
        interp.set_attribute_named(*call.args, call.node, call.frame)
    return None


@_model("delattr")
def _delattr(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) == 2 and isinstance(call.args[1], str):
        interp.delete_attribute(call.args[0], call.args[1], call.node, call.frame)
    elif call.args and isinstance(call.args[0], Instance):
        interp.heap.set(call.args[0].state, "open", True)
    return None


@_model("iter")
def _iter(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) != 1:
        return _until(interp, call) if len(call.args) == 2 else UNKNOWN
    value = call.args[0]
    if isinstance(value, streams.Stream):
        return value
    if isinstance(value, Instance) and classes.iterates(interp, value):
        made = special.call(interp, value, "__iter__", (), call.frame)
        if made is not pure.ABSENT:
            return made
    if isinstance(value, str | DictValue) or isinstance(special.contents(value), ListValue | DictValue):
        iteration = interp.iterate(value, call.node, call.frame)
        made = ListValue(iteration.items if iteration.exact else Several(iteration.items), "iterator")
        return misuse.iterator(interp, made, call.node, call.frame)
    if isinstance(value, tuple) or (isinstance(value, ListValue) and value.once is None and value.items is not None):
        made = _rows(interp, call, (value,), (interp.iterate(value, call.node, call.frame),), lambda items: items[0])
        return misuse.iterator(interp, made, call.node, call.frame)
    return value.iterator() if is_object(value, LOADER) else value


def _until(interp: Interpreter, call: Arguments) -> Value:
    """``iter(function, end)``"""

    function, end = call.args
    items: list[Value] = []
    if isinstance(function, Function | Bound):
        while len(items) < MAX_UNTIL:
            value = interp.call(function, Arguments((), {}, call.node, call.frame))
            same = pure.operate(interp, "eq", (value,), (end,), call) if not is_unknown(value) else UNKNOWN
            if same is True:
                return misuse.iterator(interp, ListValue(tuple(items), "iterator"), call.node, call.frame)
            if same is not False:
                break
            items.append(value)
    return UNKNOWN


MAX_UNTIL = 64
"""Calls of the function that an iterator is made of."""


def use_up(interp: Interpreter, value: ListValue) -> None:
    """Something has gone through all of an iterator."""
    if value.once is not None and value.items:
        interp.heap.set(value.slots, "items", ())
        if isinstance(value, streams.Rows):
            interp.heap.set(value.slots, "ended", True)


@_model("next")
def _next(interp: Interpreter, call: Arguments) -> Value:
    if not call.args:
        return UNKNOWN
    parts = parameters.listed(interp, call.args[0])
    if parts:
        return parts[0]
    value = call.args[0]
    if isinstance(value, streams.Stream):
        return streams.following(interp, value, call.args[1:])
    if call.expression is not None and call.expression.args:
        kinds.uses(interp, value, "next", call.expression.args[0], call.frame)
    match value:
        case ListValue() if value.once is not None and value.elements:
            if value.items is None:
                return interp.any_of(value.elements)
            first, *rest = value.items
            streams.leave(interp, value, tuple(rest))
            return first
        case ListValue() if value.once is not None and value.items == ():
            if call.args[1:]:
                return call.args[1]
            exceptions.throw(interp, exceptions.made("builtins.StopIteration", ()))
            return UNKNOWN
        case Instance() if isinstance(method := interp.class_attribute(value.cls, "__next__"), Function):
            return interp.call_function(method, (value,), {}, None, call.frame)
    iteration = interp.iterate(value, call.node, call.frame)
    return iteration.items[0] if iteration.items else call.args[1] if iteration.exact and call.args[1:] else UNKNOWN


@_model("callable")
def _callable(interp: Interpreter, call: Arguments) -> Value:
    value = call.first
    if isinstance(value, Function | ClassValue | Builtin | Partial) or (
        is_native_kind(value, "builtin", "function", "class", "module-class")
    ):
        return True
    match value:
        case Bound():
            return True if isinstance(value.function, Function) else Scalar("bool")
        case None | str() | int() | float() | tuple() | ListValue() | DictValue():
            return False
        case Instance() if not value.cls.opaque and not value.is_module:
            return interp.class_attribute(value.cls, "__call__") is not MISSING
    return Scalar("bool")


@_model("type")
def _type(interp: Interpreter, call: Arguments) -> Value:
    if len(call.args) == 3:
        return classes.made_by_type(interp, call)
    return interp.class_of(call.args[0]) if len(call.args) == 1 else UNKNOWN


@_model("super")
def _super(interp: Interpreter, call: Arguments) -> Value:
    return UNKNOWN


@_model("open")
def _open(interp: Interpreter, call: Arguments) -> Value:
    return (
        configuration.opened(interp, call.given(0, "file"), call.given(1, "mode", "r"), call) if call.exact else UNKNOWN
    )


@_model("hash")
def _hash(interp: Interpreter, call: Arguments) -> Value:
    """The hash of numbers alone is the same in each execution."""
    parts = tuple_of(call.first)
    return hash(call.first) if all_are(parts, bool, int, float) and parts else UNKNOWN


@_model("object")
def _object(interp: Interpreter, call: Arguments) -> Value:
    return LibraryObject(SENTINEL, (), {}, interp.site(call.node, call.frame)) if not call.args else UNKNOWN


SENTINEL = "builtins.object"
"""The class of objects that are nothing but themselves."""


@_model("id")
def _id(interp: Interpreter, call: Arguments) -> Value:
    """A number for a parameter; of other values two that are told apart here may be one."""
    given = as_kind(call.first, Tensor) if len(call.args) == 1 else None
    return parameters.identity(interp, given) if given is not None and given.parameter else UNKNOWN


for _name in ("dir", "exec", "memoryview", "bytearray"):
    _BUILTINS.setdefault(_name, lambda interp, call: UNKNOWN)

_BUILTINS["eval"] = lookups.evaluated
_BUILTINS["__import__"] = lookups.imported


@_model("vars")
def _vars(interp: Interpreter, call: Arguments) -> Value:
    if isinstance(call.first, ClassValue) and len(call.args) == 1:
        return interp.attribute(call.first, "__dict__", call.node, call.frame)
    return records.attributes(call.args[0]) if len(call.args) == 1 else UNKNOWN


@_model("property")
def _property(interp: Interpreter, call: Arguments) -> Value:
    getter, setter = as_kind(call.given(0, "fget"), Function), call.given(1, "fset")
    if getter is None:
        return UNKNOWN
    return replace(getter, kind="property", setter=setter, deleter=call.given(2, "fdel"))


def _of_kind(kind: str) -> Callable[[Interpreter, Arguments], Value]:
    def model(interp: Interpreter, call: Arguments) -> Value:
        value = call.first
        return replace(value, kind=kind) if isinstance(value, Function) else value

    return model


_BUILTINS["staticmethod"] = _of_kind("staticmethod")
_BUILTINS["classmethod"] = _of_kind("classmethod")


def frame_builtin(interp: Interpreter, node: ast.Call, frame: Frame) -> Value | None:
    """``super()``, which needs the frame it is called in."""
    assert isinstance(node.func, ast.Name)
    if node.func.id == "globals" and not node.args:
        # A name that stands there may have been bound on one way only.
        return DictValue({name: Maybe(value) for name, value in frame.globals.items()})
    if node.func.id == "locals" and not node.args and frame.function is not None and interp.uncertain == frame.certain:
        return DictValue(dict(frame.names))
    if node.func.id != "super":
        return None
    function, scope = frame.function, frame
    if function is None or function.owner is None:
        sides = [interp.eval(one, frame) for one in node.args]
        if len(sides) == 2 and isinstance(sides[0], ClassValue) and isinstance(sides[1], Instance):
            return Super(sides[1], sides[0])
        return UNKNOWN
    if node.args:
        owner, receiver = as_kind(interp.eval(node.args[0], frame), ClassValue), as_kind(scope.receiver, Instance)
        if owner is not None and (receiver is None or any(owner is cls for cls in receiver.cls.mro())):
            # With the class alone it is bound to nothing, and its __init__ does nothing.
            return Super(scope.receiver, owner) if len(node.args) > 1 or node.keywords else UNKNOWN
        interp.may_be_initialised(scope.receiver)
        return UNKNOWN
    return Super(scope.receiver, function.owner)


# -- decorators and context managers ---------------------------------------------------------------

SET_GRAD = "torch.set_grad_enabled"
_INFERENCE = "torch.inference_mode"
_GRAD_OFF = ("torch.no_grad", _INFERENCE, "torch.autograd.no_grad")
_GRAD_ON = ("torch.enable_grad", "torch.autograd.enable_grad")
_TRANSPARENT = (
    "functools.lru_cache", "functools.cache", "torch.compile", "torch.jit.script",
    "torch.jit.ignore", "torch.jit.export", "typing.overload", "typing.no_type_check", "abc.abstractmethod",
    "torch.jit.unused", "torch.jit.script_if_tracing", "typing.final", "functools.total_ordering",
    "torch.compiler.disable",
)  # fmt: skip


_CHECKERS = frozenset({"jaxtyped", "beartype", "typechecked", "typechecker"})
"""Decorators that hold a function to its annotations when it is called, and leave it as it is."""


def functions_in(value: Value) -> list[Function]:
    if isinstance(value, Function):
        return [value]
    if isinstance(value, Partial):
        return functions_in(value.function)
    return [value.function] if isinstance(value, Bound) and isinstance(value.function, Function) else []


def _path_of(value: Value) -> str:
    if isinstance(value, Native):
        return value.path
    return value.path if isinstance(value, LibraryObject) else ""


def decorated(interp: Interpreter, decorator: Value, value: Value, node: ast.expr, frame: Frame) -> Value:
    """The function or class that a decorator makes of another; unknown decorators give an unknown value, unless they are
    trusted to hand back what they decorate. Those of properties do not."""
    made = _decorated(interp, decorator, value, node, frame)
    if is_unknown(made) and last_word(callee(node) or node) in _CHECKERS:
        return value
    if is_unknown(made) and interp.is_trusting() and "property" not in ast.unparse(node):
        return value
    return made


def _decorated(interp: Interpreter, decorator: Value, value: Value, node: ast.expr, frame: Frame) -> Value:
    path = _path_of(decorator)
    if isinstance(value, Function):
        if is_attribute(node, "setter"):
            getter = as_kind(interp.eval(node.value, frame), Function)
            return replace(getter, setter=value) if getter is not None else interp.lookup(value.name, frame)
        if is_attribute(node, "deleter"):
            getter = as_kind(interp.eval(node.value, frame), Function)
            return replace(getter, deleter=value) if getter is not None else interp.lookup(value.name, frame)
        if path.startswith("timm.") and path.endswith(".register_model"):
            interp.own_models |= {value.name}
            return value
        if _marked(interp, decorator, path, value):
            return value
    if path == "functools.total_ordering" and isinstance(value, ClassValue):
        value.slots[special.TOTAL] = True
    if path in _TRANSPARENT or path.startswith(("functools.lru_cache", "pytest.")):
        return value
    if path.rpartition(".")[2] == "dataclass_transform" and isinstance(value, ClassValue):
        value.transforms = True
        return value
    if path in ("dataclasses.dataclass",) and isinstance(value, ClassValue):
        value.is_dataclass = True
        value.options = decorator.kwargs if isinstance(decorator, LibraryObject) else {}
        return value
    if is_attribute(node, "setter", "getter"):
        return interp.lookup(value.name, frame) if isinstance(value, Function) else value
    if isinstance(decorator, Instance) and contexts.decorates(decorator):
        return contexts.around(interp, decorator, value)
    if path == "functools.singledispatch":
        return dispatching.made(value)
    plain_class = isinstance(decorator, ClassValue) and not decorator.opaque and not decorator.is_module()
    callable_object = isinstance(decorator, Instance) and not decorator.is_module and not decorator.cls.opaque
    if (
        isinstance(decorator, Function | Builtin | Partial | Bound)
        or plain_class
        or callable_object
        or transforms.is_transform(path)
        or of_class(path).decorates
    ):
        call = Arguments((value,), {}, node, frame)
        if isinstance(decorator, Function) and isinstance(decorator.globals, Globals):
            return interp.limited(4 * interp.budget.decoration_steps, lambda: interp.call(decorator, call))
        return interp.call(decorator, call)
    if isinstance(decorator, Managed) and isinstance(value, Function):
        return contexts.around(interp, decorator, value)
    if isinstance(value, Function):
        interp.forget_captured(value)
    if isinstance(value, Function) and any(word in ast.unparse(node) for word in ("grad", "inference", "eval")):
        # A decorator of somebody else's may well switch recording.
        value.grad_mode = Scalar("bool")
    return UNKNOWN


def _marked(interp: Interpreter, decorator: Value, path: str, function: Function) -> bool:
    """Whether a decorator returns the function itself, and says of it what it is."""
    mode = grad_mode(interp, decorator)
    if path in ("builtins.staticmethod", "builtins.classmethod", "builtins.property"):
        function.kind = path.rpartition(".")[2]
    elif path in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
        function.kind = "contextmanager"
    elif path in ("functools.cached_property", "torch.jit.unused_property"):
        function.kind = "property"
        function.memo = {} if path.startswith("functools.") else None
    elif path.startswith(("functools.lru_cache", "functools.cache")):
        function.memo = {}
    elif mode is not None or path in _GRAD_OFF or path in _GRAD_ON:
        function.grad_mode = mode if mode is not None else path in _GRAD_ON
    elif autocast.is_autocast(decorator):
        function.autocast = decorator
    else:
        return False
    return True


def grad_mode(interp: Interpreter, manager: Value) -> Value:
    """The grad mode that entering a context manager sets, None if it does not."""
    path = _path_of(manager)
    if not isinstance(manager, LibraryObject):
        return None
    if path in _GRAD_ON:
        return True
    if path == SET_GRAD or path in _GRAD_OFF:
        decided = interp.truth(manager.given(0, "mode", True))
        known = Scalar("bool") if decided is None else decided
        if path == SET_GRAD:
            return known
        # inference_mode(False) leaves everything as it is.
        return False if path != _INFERENCE or known is True else None if known is False else known
    return None


def expects_error(node: ast.expr) -> bool:
    """``with pytest.raises(…)`` and its like: what fails inside is meant to."""
    text = ast.unparse(node)
    return any(word in text for word in ("raises", "assertRaises", "suppress("))


def entered(interp: Interpreter, manager: Value) -> Value:
    """The value that ``as`` binds."""
    if is_object(manager, "contextlib.nullcontext", "contextlib.closing"):
        return manager.given(0, "enter_result", manager.given(0, "thing"))
    if is_object(manager, files.FOLDER):
        return manager.slots["name"]
    return as_kind(manager, LibraryObject) or UNKNOWN


def suppressed(manager: Value) -> tuple[Value, ...] | None:
    """The exceptions that ``contextlib.suppress`` takes; None for other managers."""
    return manager.args if is_object(manager, "contextlib.suppress") else None


def left(interp: Interpreter, manager: Value, node: ast.AST, frame: Frame) -> None:
    """The end of the body of a context manager."""

    if is_object(manager, "contextlib.closing") and manager.args:
        call = Arguments((), {}, node, frame)
        interp.call(interp.attribute(manager.args[0], "close", node, frame), call)


def is_pure(name: str) -> bool:
    """Operators that read a graph without keeping it."""
    return name in {"item", "tolist", "argmax", "argmin", "eq", "ne", "lt", "le", "gt", "ge", "size", "dim", "topk"}


__all__ = [name for name in dir() if not name.startswith("_")] + ["Namespace"]

"""Python's own functions and methods over values that are known: they are called, on plain data.

A value that is not plain (a tensor, a size that is not known, an object of the user's) takes part as a `Held`: it can be put
somewhere else, and is compared and called through the interpreter. What cannot be told that way raises `NotPlain`, and the
models of abstract values take over.
"""

from __future__ import annotations

import ast
import datetime
import re
import struct
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from torchsleuth.interp import special, streams
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.exceptions import Thrown, made, of_python, throw
from torchsleuth.interp.interface import Interpreter
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    DictValue,
    DictView,
    Function,
    Instance,
    ListValue,
    NamedResult,
    Partial,
    Proxy,
    Sizes,
    SliceValue,
    Value,
    of_range,
)

MAX_ITEMS = 2048
"""Elements of a container that is opened, and of what comes out."""
MAX_OPENED = 20_000
"""Containers that are opened for one call, those in others among them."""
MAX_CALLS = 64
"""Elements over which a function of the user's is called one by one."""
MAX_TEXT = 20_000
"""Characters of a text."""
MAX_NUMBER = 1 << 128
CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(...))
_OBJECTS = (re.Match, re.Pattern, re.RegexFlag, datetime.date, datetime.timedelta, datetime.timezone, Fraction)
_SETS = {"set": set, "frozenset": frozenset}
_FACTORIES: dict[str, Callable[[Any], Any]] = {"dict": dict, "OrderedDict": OrderedDict, "Counter": Counter}
_CALLED = (Function, Bound, Builtin, Partial, ClassValue, Native)


class NotPlain(Exception):
    """The answer to a question about a value cannot be told."""


@dataclass(frozen=True)
class Known:
    """An object of the standard library that never changes: a match of a pattern, a date, a fraction."""

    object: Any


class Held:
    """A value that is not plain, among plain ones."""

    __slots__ = ("bridge", "value")

    def __init__(self, bridge: Bridge, value: Value) -> None:
        self.bridge, self.value = bridge, value

    def _compared(self, kind: type[ast.cmpop], other: Any) -> bool:
        return self.bridge.compared(kind, self.value, self.bridge.lift(other))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Held) and other.value is self.value:
            return True
        return self._compared(ast.Eq, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return self._compared(ast.Lt, other)

    def __le__(self, other: Any) -> bool:
        return self._compared(ast.LtE, other)

    def __gt__(self, other: Any) -> bool:
        return self._compared(ast.Gt, other)

    def __ge__(self, other: Any) -> bool:
        return self._compared(ast.GtE, other)

    def __hash__(self) -> int:
        return self.bridge.hashed(self.value)

    def __bool__(self) -> bool:
        return self.bridge.decided(self.value)

    def __len__(self) -> int:
        return len(self.bridge.opened(self.value))

    def __iter__(self) -> Iterator[Any]:
        opened = self.bridge.opened(self.value)
        if isinstance(opened, Held):
            raise NotPlain
        return iter(opened)

    def __str__(self) -> str:
        return self.bridge.text(self.value, "__str__")

    def __repr__(self) -> str:
        return self.bridge.text(self.value, "__repr__")

    def __format__(self, form: str) -> str:
        own = self.bridge.formatted(self.value, form)
        if own is None and form:
            raise NotPlain
        return str(self) if own is None else own

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.bridge.called(self.value, args, kwargs)

    def __add__(self, other: Any) -> Any:
        return self.bridge.computed(ast.Add, self.value, other)

    def __radd__(self, other: Any) -> Any:
        return self.bridge.lower(self.bridge.binary(ast.Add, self.bridge.lift(other), self.value))

    def __mul__(self, other: Any) -> Any:
        return self.bridge.computed(ast.Mult, self.value, other)

    def __sub__(self, other: Any) -> Any:
        return self.bridge.computed(ast.Sub, self.value, other)

    def __getattr__(self, name: str) -> Any:
        raise NotPlain


class _HeldTuple(tuple[Any, ...]):
    """A tuple with what it stands for."""

    value: Value

    def __repr__(self) -> str:
        if isinstance(self.value, NamedResult):
            name = self.value.of.name if self.value.of is not None else ""
            if not name:
                raise NotPlain
            return f"{name}({', '.join(f'{key}={item!r}' for key, item in zip(self.value.fields, self))})"
        if isinstance(self.value, Sizes):
            return f"torch.Size({[*self]})"
        return super().__repr__()

    __str__ = __repr__


def _is_unhashable(value: Instance) -> bool:
    """Whether a class compares its objects, and says nothing of their hashes."""
    for base in of_kind(value.cls.mro(), ClassValue):
        options = base.options
        if "__hash__" in base.slots or options.get("unsafe_hash") is True:
            return base.slots.get("__hash__", UNKNOWN) is None
        if "__eq__" in base.slots:
            return True
        if base.is_dataclass and options.get("eq") is not False:
            return options.get("frozen") in (None, False)
    return False


class Bridge:
    """Between abstract values and Python's, for one call. `held`: whether anything takes part that is not plain."""

    def __init__(self, interp: Interpreter, call: Arguments) -> None:
        self.interp, self.call = interp, call
        self.held = False
        self.calls = self.opened_so_far = 0
        self.iterators: dict[int, tuple[ListValue, Iterator[Any]]] = {}
        """Iterators that are gone through, by identity."""
        self.iterators_made: dict[int, Iterator[Any]] = {}

    # -- down ------------------------------------------------------------------------------------

    def lower(self, value: Value) -> Any:
        """A value as an element of a container or an argument."""
        value = self.interp.resolved(value)
        if type(value) in CONSTANTS:
            if isinstance(value, str | bytes) and len(value) > MAX_TEXT:
                raise NotPlain
            if type(value) is int and abs(value) > MAX_NUMBER:
                raise NotPlain
            return value
        match value:
            case tuple():
                if len(value) > MAX_ITEMS:
                    raise NotPlain
                made = _HeldTuple(map(self.lower, value))
                made.value = value
                return made
            case Known():
                return value.object
            case SliceValue():
                return slice(self.lower(value.start), self.lower(value.stop), self.lower(value.step))
        self.held = True
        return Held(self, value)

    def opened(self, value: Value) -> Any:
        """A value as what a function works on: containers with their elements."""
        self.opened_so_far += 1
        if self.opened_so_far > MAX_OPENED:  # such as a list that holds itself, or the same one many times over
            raise NotPlain
        match value:
            case streams.Stream():
                self.held = True
                return self.iterators_made.setdefault(id(value), self._some(value.elements_from_here(self.interp)))
            case DictView():
                return getattr(self.opened(value.of), value.part)()
            case Proxy():
                return self.opened(value.of)
            case ListValue():
                items = value.items
                if items is None or len(items) > MAX_ITEMS:
                    raise NotPlain
                lowered = list(map(self.lower, items))
                if value.type_name in _SETS:
                    return _SETS[value.type_name](lowered)
                if value.type_name == "deque":
                    return deque(lowered, value.slots.get("maxlen"))
                if value.once is not None:
                    return self.iterators.setdefault(id(value), (value, iter(lowered)))[1]
                return lowered
            case DictValue():
                entries = value.items
                if entries is None or len(entries) > MAX_ITEMS or value.type_name not in _FACTORIES:
                    raise NotPlain
                return _FACTORIES[value.type_name]({self.lower(key): self.lower(one) for key, one in entries.items()})
            case ClassValue():
                iteration = self.interp.iterate(value, self.call.node, self.call.frame)
                return list(map(self.lower, iteration.items)) if iteration.exact else self.lower(value)
            case Instance():
                inner = special.contents(value)
                return self.lower(value) if inner is None else self.opened(inner)
        return self.lower(value)

    def _some(self, elements: Iterator[Value]) -> Iterator[Any]:
        """The elements of what may never end: who asks for too many is not answered."""
        for position, one in enumerate(elements):
            if position == MAX_ITEMS:
                raise NotPlain
            yield self.lower(one)

    def deep(self, value: Value) -> Any:
        """A value with all that is in it, plain to the last."""
        if isinstance(value, ListValue | DictValue):
            opened = self.opened(value)
            if isinstance(opened, dict):
                return type(opened)((self._bare(key), self._bare(one)) for key, one in opened.items())
            if not isinstance(opened, list | set | frozenset | deque):
                raise NotPlain
            return type(opened)(map(self._bare, opened))
        return self._bare(self.lower(value))

    def _bare(self, lowered: Any) -> Any:
        if isinstance(lowered, Held):
            return self.deep(lowered.value) if isinstance(lowered.value, ListValue | DictValue) else lowered
        return lowered

    # -- up --------------------------------------------------------------------------------------

    def lift(self, made: Any) -> Value:
        """The result, as a value."""
        if isinstance(made, Held | _HeldTuple):
            return made.value
        kind = type(made)
        if kind in CONSTANTS:
            return made
        if kind is tuple:
            return tuple(map(self.lift, self._few(made)))
        if kind in (list, set, frozenset, deque):
            value = ListValue(tuple(map(self.lift, self._few(made))), kind.__name__)
            if kind is deque:
                value.slots["maxlen"] = made.maxlen
            return value
        if kind in (dict, OrderedDict, Counter):
            entries = {self.lift(key): self.lift(one) for key, one in made.items()}
            return DictValue(entries, kind.__name__, 0 if kind is Counter else None)
        if kind is slice:
            return SliceValue(*map(self.lift, (made.start, made.stop, made.step)))
        if kind is range:
            self._few(made)
            return of_range(made)
        if isinstance(made, _OBJECTS):
            if isinstance(made, Fraction) and max(abs(made.numerator), made.denominator) > MAX_NUMBER:
                raise NotPlain
            return Known(made)
        raise NotPlain

    def _few(self, made: Any) -> Any:
        if len(made) > MAX_ITEMS:
            raise NotPlain
        return made

    def drawn(self, made: Any) -> Value:
        """The elements that an iterator gives, as an iterator."""
        from torchsleuth.interp import misuse

        items = list(islice(made, MAX_ITEMS + 1))
        value = ListValue(tuple(map(self.lift, self._few(items))), "iterator")
        return misuse.iterator(self.interp, value, self.call.node, self.call.frame)

    def settle(self) -> None:
        """Leave in the iterators what was not drawn from them."""
        for value, left in self.iterators.values():
            streams.leave(self.interp, value, tuple(map(self.lift, left)))

    # -- through the interpreter -------------------------------------------------------------------

    def compared(self, kind: type[ast.cmpop], left: Value, right: Value) -> bool:
        node = ast.copy_location(ast.Compare(ast.Constant(0), [kind()], [ast.Constant(0)]), self.call.node)
        return self.decided(self.interp.compare(kind(), left, right, node, self.call.frame))

    def binary(self, kind: type[ast.operator], left: Value, right: Value) -> Value:
        return self.interp.binary(kind, left, right, self.call.node, self.call.frame)

    def computed(self, kind: type[ast.operator], left: Value, right: Any) -> Any:
        return self.lower(self.binary(kind, left, self.lift(right)))

    def decided(self, value: Value) -> bool:
        verdict = self.interp.truth(value)
        if verdict is None:
            raise NotPlain
        return verdict

    def hashed(self, value: Value) -> int:
        if isinstance(value, Instance) and not value.may_be:
            if _is_unhashable(value):
                throw(self.interp, made("builtins.TypeError", (f"unhashable type: {value.cls.name!r}",)))
                raise NotPlain
            given = special.call(self.interp, value, "__hash__", (), self.call.frame)
            if isinstance(given, int):
                return hash(given)
            if given is special.ABSENT and special.method(self.interp, value, "__eq__") is special.ABSENT:
                if not value.cls.is_dataclass:
                    return hash(value)
                return hash(tuple(map(self.lower, value.slots.values())))
        if isinstance(value, ListValue | DictValue) and value.type_name in ("list", "dict", "set"):
            throw(self.interp, made("builtins.TypeError", (f"unhashable type: {value.type_name!r}",)))
        if isinstance(value, Function | ClassValue | Native):
            return hash(value)
        raise NotPlain

    def text(self, value: Value, how: str) -> str:
        made = as_kind(special.text(self.interp, value, how, self.call.frame), str)
        if made is not None:
            return made
        if not isinstance(value, ListValue | DictValue) or (isinstance(value, ListValue) and value.once is not None):
            raise NotPlain
        plain = self.opened(value)
        return repr(dict(plain) if isinstance(value, DictValue) and value.type_name == "dict" else plain)

    def formatted(self, value: Value, form: str) -> str | None:
        """The text that ``__format__`` of an object's class makes; None where that has none."""
        made = special.call(self.interp, value, "__format__", (form,), self.call.frame)
        if made is special.ABSENT:
            return None
        if not isinstance(made, str):
            raise NotPlain
        return made

    def called(self, function: Value, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:

        self.calls += 1
        if self.calls > MAX_CALLS or not isinstance(function, (*_CALLED, Instance)):
            raise NotPlain
        given = {name: self.lift(one) for name, one in kwargs.items()}
        call = Arguments(tuple(map(self.lift, args)), given, self.call.node, self.call.frame)
        return self.lower(self.interp.call(function, call))


@contextmanager
def attempt(interp: Interpreter, bridge: Bridge) -> Iterator[None]:
    """Something done with Python's own values. What it raises is raised in the program, where that is certain; what cannot be
    told is as if it had not been tried."""
    mark = interp.heap.mark()
    try:
        yield
    except (NotPlain, Thrown):
        raise
    except streams.Lost:
        raise NotPlain from None
    except (ValueError, LookupError, ArithmeticError, StopIteration) as error:
        interp.heap.rollback(mark)
        throw(interp, of_python(error))
        raise NotPlain from None
    except (TypeError, AttributeError, RuntimeError, MemoryError, re.error, struct.error) as error:
        interp.heap.rollback(mark)
        if isinstance(error, TypeError | AttributeError) and not bridge.held:
            throw(interp, of_python(error))
        raise NotPlain from None


def tried(interp: Interpreter, call: Arguments, run: Callable[[Bridge], Any]) -> Value:
    """The result of `run` with a bridge, lifted; ABSENT where that cannot be told."""
    bridge = Bridge(interp, call)
    mark = interp.heap.mark()
    try:
        with attempt(interp, bridge):
            made = bridge.lift(run(bridge))
            bridge.settle()
            return made
    except NotPlain:
        interp.heap.rollback(mark)
        return special.ABSENT


def hold(bridge: Bridge, container: ListValue | DictValue, changed: Any) -> None:
    """Keep what became of a container."""
    if isinstance(container, DictValue):
        entries = {bridge.lift(key): bridge.lift(one) for key, one in changed.items()}
        bridge.interp.heap.set(container.slots, "items", entries)
    else:
        bridge.interp.heap.set(container.slots, "items", tuple(map(bridge.lift, changed)))


ABSENT = special.ABSENT

__all__ = ["ABSENT", "MAX_ITEMS", "Bridge", "Held", "Known", "NotPlain", "attempt", "hold", "tried"]

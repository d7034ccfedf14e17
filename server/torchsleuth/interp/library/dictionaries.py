"""Dictionaries, counters and defaultdicts: entries that may be missing, and keys that are not known."""

from __future__ import annotations

import ast
from typing import Any

from torchsleuth.interp import exceptions, misuse, special
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import parameters, records
from torchsleuth.interp.models import Model, method
from torchsleuth.sifting import of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.spec import DType, Native
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Chained,
    ClassValue,
    DictValue,
    DictView,
    Entries,
    Function,
    Instance,
    ListValue,
    Maybe,
    Parameters,
    Proxy,
    Scalar,
    Several,
    Value,
    entry,
    is_int,
    is_unknown,
    numbers_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

_PLAIN = (str, int, float, bool, bytes, type(None), DType, Native, ClassValue, Function)


def is_key(key: Value) -> bool:
    """Whether a key is known, so that it equals another one only if they are the same."""
    if isinstance(key, tuple):
        return all(map(is_key, key))
    member = isinstance(key, Instance) and any(base.path.startswith("enum.") for base in of_kind(key.cls.mro(), Native))
    return member or isinstance(key, _PLAIN)


def same_key(entries: Entries, key: Value) -> Value:
    """The key of a dict that equals one: a member of ``(str, Enum)`` or IntEnum and its value are the same key."""
    if not is_key(key) or key in entries:
        return key
    if isinstance(key, Instance):
        value = records.value_of(key)
        return value if is_key(value) and value in entries else key
    if isinstance(key, str | int):
        return next((one for one in of_kind(entries, Instance) if records.value_of(one) == key), key)
    return key


# -- entries ---------------------------------------------------------------------------------------


def put(interp: Interpreter, entries: Entries, key: Value, value: Value) -> Entries:
    """The entries after ``d[key] = value``. A key that is not known may be any of them, or a new one."""
    if is_key(key):
        return {**entries, same_key(entries, key): value}
    join = interp.heap.join_values
    changed: Entries = {}
    for name, old in entries.items():
        if name is not OTHERS:
            joined = join(entry(old), value)
            changed[name] = Maybe(joined) if isinstance(old, Maybe) else joined
    others = entries.get(OTHERS)
    changed[OTHERS] = (key, value) if others is None else (join(others[0], key), join(others[1], value))
    return changed


def merge(interp: Interpreter, entries: Entries | None, more: Entries | None) -> Entries | None:
    """The entries after ``d.update(more)``."""
    if entries is None or more is None:
        return None
    for key, value in more.items():
        if key is OTHERS:
            entries = put(interp, entries, *value)
        elif isinstance(value, Maybe):
            old = entries.get(key, MISSING)
            joined = interp.heap.join_values(entry(old), value.value)
            entries = {**entries, key: Maybe(joined) if old is MISSING or isinstance(old, Maybe) else joined}
        else:
            entries = {**entries, key: value}
    return entries


def of_pairs(interp: Interpreter, pairs: Iteration, node: ast.AST, frame: Frame) -> Entries | None:
    """The entries of a dict made of these pairs, None where that is not known."""
    entries: Entries = {}
    for pair in pairs.items if pairs.last is None else (*pairs.items, pairs.last):
        parts = interp.sequence(pair, node, frame)
        if parts is None or len(parts) != 2:
            return None
        key, value = parts
        if pairs.exact:
            entries = put(interp, entries, key, value)
        else:
            entries = merge(interp, entries, {key: Maybe(value)} if is_key(key) else {OTHERS: (key, value)}) or {}
    return entries


def refuses_another_size(interp: Interpreter, container: DictValue | DictView, count: int) -> None:
    """Python ends a loop over a dict in which the dict gets entries, or loses some. `count`: what it had before."""
    held = container.of.items if isinstance(container, DictView) else container.items
    if held is not None and len(held) != count:
        exceptions.throw(
            interp, exceptions.made("builtins.RuntimeError", ("dictionary changed size during iteration",))
        )


def contains(container: DictValue, key: Value) -> bool | None:
    """Whether a key is in a dict."""
    entries = container.entries
    if entries is None:
        return None
    if not is_key(key):
        return None if entries else False
    found = entries.get(same_key(entries, key), MISSING)
    if found is MISSING:
        return None if OTHERS in entries else False
    return None if isinstance(found, Maybe) else True


def item(interp: Interpreter, container: DictValue, key: Value, node: ast.AST, frame: Frame) -> Value:
    """``d[key]``, where the key is there, or the dict makes what is missing."""
    entries = container.entries
    if entries is None:
        return UNKNOWN
    if not is_key(key):
        return _any_item(interp, container, key, node, frame)
    key = same_key(entries, key)
    found, others = entries.get(key, MISSING), entries.get(OTHERS)
    if found is not MISSING and not isinstance(found, Maybe):
        return found
    possible = [] if found is MISSING else [found.value]
    possible += [] if others is None else [others[1]]
    if container.factory is None:
        filled = container.identity in interp.trace.handed
        if not filled:
            misuse.lacks_entry(interp, container, key, node, frame)
        if not possible and not filled:
            exceptions.throw(interp, exceptions.made("builtins.KeyError", (key,)))
        return interp.heap.join_all(tuple(possible)) if possible else UNKNOWN
    value = interp.heap.join_all((*possible, _made(interp, container, node, frame)))
    if not container.is_counter:
        interp.heap.set(container.slots, "items", {**entries, key: value})
    return value


def _any_item(interp: Interpreter, container: DictValue, key: Value, node: ast.AST, frame: Frame) -> Value:
    """The value of a key that is not known. What stands for several lists has no known length."""
    entries = container.entries or {}
    made = () if container.factory is None else (_made(interp, container, node, frame),)
    values = (*container.elements, *made)
    if not values:
        return UNKNOWN
    one = values[0] if len(values) == 1 else interp.any_of(values)
    if isinstance(one, ListValue | DictValue):
        if isinstance(one, ListValue) and one.items is not None:
            one = ListValue(interp.heap.several(one.items), one.type_name)
        kept: Entries = {
            name: Maybe(one) if isinstance(old, Maybe) else one for name, old in entries.items() if name is not OTHERS
        }
        others = entries.get(OTHERS)
        if others is not None or made:
            kept[OTHERS] = (key if others is None else interp.heap.join_values(others[0], key), one)
        interp.heap.set(container.slots, "items", kept)
    return one


def _made(interp: Interpreter, container: DictValue, node: ast.AST, frame: Frame) -> Value:
    """The value that a defaultdict makes for a key that is missing."""

    return 0 if container.is_counter else interp.call(container.factory, Arguments((), {}, node, frame))


def written(interp: Interpreter, container: DictValue) -> DictValue:
    """The dict that changes where one is written to. One that cannot be written to refuses it."""
    match container:
        case Chained():
            return written(interp, container.maps[0])
        case Proxy():
            exceptions.throw(interp, exceptions.made("builtins.TypeError", (UNKNOWN,)))
            return DictValue({})
    return container


def set_item(interp: Interpreter, container: DictValue, key: Value, value: Value) -> None:
    container = written(interp, container)
    if container.entries is not None:
        interp.heap.set(container.slots, "items", put(interp, container.entries, key, value))


def delete(interp: Interpreter, container: DictValue, key: Value) -> None:
    container = written(interp, container)
    entries = container.entries
    if entries is None:
        return
    if contains(container, key) is False:
        exceptions.throw(interp, exceptions.made("builtins.KeyError", (key,)))
    if is_key(key):
        key = same_key(entries, key)
        kept = {name: value for name, value in entries.items() if name is OTHERS or name != key}
    else:
        kept = {n: v if n is OTHERS or isinstance(v, Maybe) else Maybe(v) for n, v in entries.items()}
    interp.heap.set(container.slots, "items", kept)


def iteration(container: DictValue, part: str = "keys") -> Iteration:
    """The elements that a loop over the keys, the values or the pairs sees."""
    entries = container.entries
    if entries is None or (not entries and container.items is None):
        return Iteration((UNKNOWN,), exact=False)
    pairs = [value if key is OTHERS else (key, entry(value)) for key, value in entries.items()]
    chosen = {"keys": [key for key, _ in pairs], "values": [value for _, value in pairs], "items": pairs}[part]
    return Iteration(tuple(chosen), exact=container.items is not None)


# -- construction ----------------------------------------------------------------------------------


def construct(interp: Interpreter, call: Arguments) -> DictValue:
    """``dict(…)``"""
    entries: Entries | None = {}
    if call.args:
        entries = _entries_of(interp, call.args[0], call)
    return DictValue(merge(interp, entries, dict(call.kwargs)))


def _entries_of(interp: Interpreter, value: Value, call: Arguments) -> Entries | None:
    held = special.contents(value)
    if isinstance(held, DictValue) and special.method(interp, value, "__iter__") is special.ABSENT:
        return held.entries
    if isinstance(value, DictValue):
        return value.entries
    iteration = interp.iterate(value, call.node, call.frame)
    named = parameters.each(interp, value) if isinstance(value, Parameters) and value.named else None
    if named is not None:
        iteration = Iteration(named, exact=True)
    return of_pairs(interp, iteration, call.node, call.frame)


def collection(interp: Interpreter, name: str, call: Arguments) -> DictValue:
    """``Counter(…)``, ``defaultdict(…)``, ``OrderedDict(…)``"""
    from dataclasses import replace

    if name == "OrderedDict":
        return DictValue(construct(interp, call).entries, "OrderedDict")
    if name == "Counter":
        made = DictValue({}, "Counter", 0)
        _count(interp, made, call, dict(call.kwargs))
        return made
    factory = call.given(0, "default_factory")
    made = construct(interp, replace(call, args=call.args[1:]))
    if is_unknown(factory):
        return DictValue(None)
    return DictValue(made.entries, "defaultdict", factory)


def _count(interp: Interpreter, counter: DictValue, call: Arguments, more: Entries) -> None:
    """Add to a counter what it is given: elements, or numbers of them."""
    entries = counter.entries
    for value in (*call.args, DictValue(more)):
        if isinstance(value, DictValue):
            counts = value.entries
        else:
            elements = interp.iterate(value, call.node, call.frame)
            counts = None if UNKNOWN in elements.items else {}
            for element in elements.items:
                if counts is None:
                    break
                if elements.exact and is_key(element):
                    counts[element] = counts.get(element, 0) + 1
                else:
                    counts = put(interp, counts, element, interp.fresh_size("?", positive=False))
        if entries is None or counts is None:
            entries = None
            break
        summed = {key: _sum(interp, entry(entries.get(key, 0)), number) for key, number in counts.items()}
        entries = merge(interp, entries, summed)
    interp.heap.set(counter.slots, "items", entries)


def _sum(interp: Interpreter, left: Value, right: Value) -> Value:
    match right:
        case Maybe():
            return Maybe(_sum(interp, left, right.value))
        case tuple():
            return (right[0], interp.fresh_size("?", positive=False))
    return dims.add(left, right) if is_int(left) and is_int(right) else UNKNOWN


def _most_common(interp: Interpreter, counter: DictValue, count: Value) -> ListValue:
    pairs = iteration(counter, "items")
    numbers = numbers_of(iteration(counter, "values").items)
    if pairs.exact and numbers is not None and (count is None or isinstance(count, int)):
        ordered = sorted(range(len(numbers)), key=lambda place: -numbers[place])
        return ListValue(tuple(pairs.items[place] for place in ordered[:count]))
    return ListValue(None if UNKNOWN in pairs.items else interp.heap.several(pairs.items))


def _parts(container: DictValue, part: str) -> tuple[Value, ...] | None:
    """The elements of a view of a dict."""
    seen = iteration(container, part)
    return seen.items if seen.exact else None if UNKNOWN in seen.items else Several(seen.items)


# -- methods ---------------------------------------------------------------------------------------


MAX_REPEATED = 2048
"""Elements of a counter that are repeated one by one."""
_WRITING = frozenset({"pop", "popitem", "update", "clear"})
"""Methods of a dict that change it; ``setdefault()`` asks for a key first."""


class DictMethods(Model):
    """The methods of a dict, and of what is derived from it."""

    value: DictValue

    def run(self, call: Arguments) -> Value:
        if isinstance(self.value, Chained):
            if self.name == "new_child":
                first = call.given(0, "m")
                return Chained((first if isinstance(first, DictValue) else DictValue({}), *self.value.maps))
            if self.name in _WRITING:
                return DictMethods(self.interp, self.value.maps[0], self.name).run(call)
        return super().run(call)

    @method("items", "keys", "values")
    def view(self, call: Arguments) -> Value:
        return DictView(self.value, self.name, _parts)

    @method
    def copy(self, call: Arguments) -> Value:
        return self.value.holding(self.value.entries)

    @method("get")
    def look_up(self, call: Arguments) -> Value:
        return _get(self.interp, self.value, call.args[0], call.given(1, "default")) if call.args else self.other(call)

    @method
    def setdefault(self, call: Arguments) -> Value:
        interp, receiver = self.interp, self.value
        if not call.args or receiver.entries is None:
            return self.other(call)
        value = call.given(1, "default")
        if contains(receiver, call.args[0]) is not False:
            value = _get(interp, receiver, call.args[0], value)
        set_item(interp, receiver, call.args[0], value)
        return value

    @method
    def pop(self, call: Arguments) -> Value:
        interp, receiver = self.interp, self.value
        if not call.args or receiver.entries is None:
            return self.other(call)
        given = len(call.args) > 1 or "default" in call.kwargs
        if not given and contains(receiver, call.args[0]) is False:
            exceptions.throw(interp, exceptions.made("builtins.KeyError", (call.args[0],)))
        value = _get(interp, receiver, call.args[0], call.given(1, "default") if given else MISSING)
        delete(interp, receiver, call.args[0])
        return UNKNOWN if value is MISSING else value

    @method
    def popitem(self, call: Arguments) -> Value:
        items = self.value.items
        if not items:
            return self.other(call)
        key = next(iter(items)) if call.given(0, "last", True) is False else next(reversed(items))
        delete(self.interp, self.value, key)
        return (key, items[key])

    @method
    def update(self, call: Arguments) -> Value:
        interp, entries = self.interp, self.value.entries
        if self.value.is_counter:
            _count(interp, self.value, call, dict(call.kwargs))
            return None
        for value in call.args:
            entries = merge(interp, entries, _entries_of(interp, value, call))
        interp.heap.set(self.value.slots, "items", merge(interp, entries, dict(call.kwargs)))
        return None

    @method
    def clear(self, call: Arguments) -> Value:
        self.interp.heap.set(self.value.slots, "items", None if self.value.slots.get("filled") else {})
        return None

    @method
    def most_common(self, call: Arguments) -> Value:
        return _most_common(self.interp, self.value, call.given(0, "n")) if self.value.is_counter else self.other(call)

    @method
    def total(self, call: Arguments) -> Value:
        return self.interp.fresh_size("?", positive=False) if self.value.is_counter else self.other(call)

    @method
    def elements(self, call: Arguments) -> Value:
        if not self.value.is_counter:
            return self.other(call)
        counts = self.value.items
        numbers = numbers_of(counts.values()) if counts is not None else None
        if counts is not None and numbers is not None and sum(map(abs, numbers)) <= MAX_REPEATED:
            return ListValue(tuple(key for key, number in zip(counts, numbers) for _ in range(int(number))), "iterator")
        keys = iteration(self.value).items
        return ListValue(None if UNKNOWN in keys else self.interp.heap.several(keys))

    @method
    def move_to_end(self, call: Arguments) -> Value:
        return None

    @method("fromkeys", "__contains__", "__len__")
    def without_effect(self, call: Arguments) -> Value:
        return UNKNOWN

    def other(self, call: Arguments) -> Value:
        """It may change anything."""
        self.interp.heap.set(self.value.slots, "items", None)
        return UNKNOWN


class RecordMethods(DictMethods):
    """The methods of a dict whose entries are attributes as well."""

    @method
    def to_tuple(self, call: Arguments) -> Value:
        return UNKNOWN if self.value.items is None else tuple(self.value.items.values())


def _get(interp: Interpreter, receiver: DictValue, key: Value, default: Value) -> Value:
    """The value of a key, or what stands in its place where it is missing."""
    entries = receiver.entries
    if entries is None:
        return UNKNOWN
    there = contains(receiver, key)
    if there is False:
        return default
    values = receiver.elements
    if is_key(key):
        found, others = entries.get(same_key(entries, key), MISSING), entries.get(OTHERS)
        values = (entry(found), *(() if others is None or there else (others[1],)))
    return interp.heap.join_all((*values, *(() if there else (default,))))


def from_json(data: Any) -> Value:
    """The result of ``json.loads``, as abstract values."""
    match data:
        case dict():
            return DictValue({key: from_json(value) for key, value in data.items()})
        case list():
            return ListValue(tuple(map(from_json, data)))
        case set():
            return ListValue(tuple(map(from_json, sorted(data, key=repr))), "set")
    return tuple(map(from_json, data)) if isinstance(data, tuple) else data


__all__ = [name for name in dir() if not name.startswith("_")] + ["Scalar"]

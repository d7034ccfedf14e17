"""Methods of lists and other values of Python's own that are not known to the last: what they change, and what they give."""

from __future__ import annotations

from torchsleuth.interp import streams
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import pure, python, strings
from torchsleuth.interp.models import Model, method
from torchsleuth.sifting import as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_index
from torchsleuth.values import UNKNOWN, ListValue, Several, Value, is_int
from torchsleuth.values.graph import AutogradFault

_EMPTYING = frozenset({"pop", "popleft", "clear", "remove", "discard"})


def call_method(interp: Interpreter, receiver: Value, name: str, call: Arguments, model: type[Model] | None) -> Value:
    """A method of a value of Python's own: it is called where all is known, and otherwise the model tells."""
    known = pure.method(interp, receiver, name, call)
    if known is not pure.ABSENT:
        return known
    return UNKNOWN if model is None else model(interp, receiver, name).run(call)


class PlainMethods(Model):
    """The methods of a value that does not change."""

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


class TupleMethods(PlainMethods):
    """The methods of a tuple, and of the shape of a tensor."""

    @method
    def index(self, call: Arguments) -> Value:
        return self.value.index(call.args[0]) if call.args and call.args[0] in self.value else UNKNOWN

    @method
    def numel(self, call: Arguments) -> Value:
        return dims.product([item for item in self.value if is_int(item)])

    @method
    def count(self, call: Arguments) -> Value:
        return self.interp.fresh_size("?", positive=False)


class TextMethods(PlainMethods):
    """The methods of a text."""

    def run(self, call: Arguments) -> Value:
        return strings.method(self.interp, self.value, self.name, call)


class ScalarMethods(PlainMethods):
    """The methods of a number or a text that is not known."""

    def run(self, call: Arguments) -> Value:
        if self.value.type == "str":
            return strings.method(self.interp, self.value, self.name, call)
        return super().run(call)

    @method
    def backward(self, call: Arguments) -> Value:
        if self.value.cut is not None:
            site = self.interp.site(call.node, call.frame)
            self.interp.fault(AutogradFault("no_graph", site, self.value, self.value.cut))
        return UNKNOWN

    @method("item")
    def number(self, call: Arguments) -> Value:
        return self.value


class NumberMethods(PlainMethods):
    """The methods of a number."""

    @method
    def is_integer(self, call: Arguments) -> Value:
        return float(self.value).is_integer()


class GeneratorMethods(PlainMethods):
    """The methods of a generator."""

    @method
    def send(self, call: Arguments) -> Value:
        return streams.send(self.interp, self.value, call.args[0]) if len(call.args) == 1 else UNKNOWN

    @method
    def throw(self, call: Arguments) -> Value:
        return streams.throw(self.interp, self.value, call.args[0]) if call.args else UNKNOWN

    @method
    def close(self, call: Arguments) -> Value:
        streams.close(self.interp, self.value)
        return None

    @method("__next__")
    def following(self, call: Arguments) -> Value:
        return streams.following(self.interp, self.value)


class ListMethods(PlainMethods):
    """The methods of a list, set or deque."""

    value: ListValue

    def run(self, call: Arguments) -> Value:
        if self.name in _EMPTYING or self.value.slots.get("maxlen") is not None:
            self.interp.trace.emptied.add(self.value.identity)
        return super().run(call)

    def _store(self, changed: tuple[Value, ...] | None, from_front: bool = False) -> None:
        """The elements are these from now on, as many as fit. `from_front`: those that were there are dropped at the end."""
        limit = as_kind(self.value.slots.get("maxlen"), int)
        if changed is not None and self.value.items is None:
            changed = self.interp.heap.several(changed)
        elif changed is not None and limit is not None and len(changed) > limit:
            changed = changed[:limit] if from_front else changed[len(changed) - limit :]
        self.interp.heap.set(self.value.slots, "items", changed)

    def _store_some(self, elements: tuple[Value, ...] | None) -> None:
        """The elements are among these from now on, in any number."""
        some = None if elements is None else self.interp.heap.several(elements)
        self.interp.heap.set(self.value.slots, "items", some)

    @method("append", "add", "appendleft")
    def put(self, call: Arguments) -> Value:
        if not call.args:
            return UNKNOWN
        elements, value = self.value.elements, call.args[0]
        if self.value.type_name == "set":
            whole = None if elements is None else python.make_set(self.interp, (*elements, value)).elements
            self._store(whole if not isinstance(elements, Several) else elements and (*elements, value))
        elif self.name == "appendleft":
            self._store(None if elements is None else (value, *elements), from_front=True)
        else:
            self._store(None if elements is None else (*elements, value))
        return None

    @method("extend", "update", "extendleft")
    def put_all(self, call: Arguments) -> Value:
        if not call.args:
            return UNKNOWN
        iteration = self.interp.iterate(call.args[0], call.node, call.frame)
        elements = self.value.elements
        more = iteration.items if iteration.last is None else (*iteration.items, iteration.last)
        if elements is None or self.value.type_name == "set" or UNKNOWN in iteration.items:
            self._store(None)
        elif not iteration.exact:
            self._store_some((*elements, *more))
        else:
            self._store(None if self.name == "extendleft" else self.interp.few((*elements, *more)))
        return None

    @method
    def insert(self, call: Arguments) -> Value:
        if len(call.args) != 2:
            return UNKNOWN
        (position, value), items, elements = call.args, self.value.items, self.value.elements
        if items is not None and isinstance(position, int):
            self._store((*items[:position], value, *items[position:]))
        else:
            self._store_some(None if elements is None else (*elements, value))
        return None

    @method("pop", "popleft")
    def take(self, call: Arguments) -> Value:
        items, elements = self.value.items, self.value.elements
        index = as_kind(0 if self.name == "popleft" else call.given(0, "index", -1), int)
        if items and is_index(index, items):
            changed = list(items)
            value = changed.pop(index)
            self._store(tuple(changed))
            return value
        if not elements:
            self._store(None)
            return UNKNOWN
        self._store_some(elements)
        return self.interp.any_of(elements)

    @method
    def reverse(self, call: Arguments) -> Value:
        elements = self.value.elements
        self._store(None if elements is None else tuple(reversed(elements)))
        return None

    @method
    def clear(self, call: Arguments) -> Value:
        if self.value.slots.get("filled"):
            return self.drop(call)
        self._store(())
        return None

    @method
    def sort(self, call: Arguments) -> Value:
        items, elements = self.value.items, self.value.elements
        if elements is not None:
            python.keyed(self.interp, call, elements)
        if items is None:
            return self.drop(call)
        self._store((self.interp.any_of(items),) * len(items) if UNKNOWN not in items and items else items)
        return None

    @method("remove", "discard")
    def drop(self, call: Arguments) -> Value:
        self._store_some(self.value.elements)
        return None

    @method
    def copy(self, call: Arguments) -> Value:
        return ListValue(self.value.elements, self.value.type_name)

    @method("index", "count")
    def number(self, call: Arguments) -> Value:
        return self.interp.fresh_size("?", positive=False)

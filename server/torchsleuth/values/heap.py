"""The journal of every mutation, so that a branch can be undone, and two branches joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torchsleuth.tensors import dims
from torchsleuth.tensors.device import Device, parse
from torchsleuth.tensors.dims import Dim, Size, Symbol
from torchsleuth.tensors.spec import DType, TensorSpec
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Array,
    Bound,
    Choice,
    ClassValue,
    ContainerSlots,
    DictSlots,
    DictValue,
    FactSlots,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListSlots,
    ListValue,
    Maybe,
    NamedResult,
    Scalar,
    Several,
    Slots,
    StateSlots,
    Tensor,
    Trained,
    Value,
    entry,
    is_int,
    is_unknown,
)
from torchsleuth.values.graph import Cut
from torchsleuth.values.names import Names

MISSING: Any = object()
MAX_KINDS = 4
"""Different elements that stand for those of a list of unknown length; beyond that they are joined into one."""


_OBJECTS = (Tensor, Array, ListValue, DictValue, Instance, LibraryModule, LibraryObject, Function, ClassValue, Bound)
_PLAIN = (tuple, str, bool, int, float, Scalar, Dim, type(None))


def options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Choice) else (value,)


def _may_be_chosen(value: Value) -> bool:
    return isinstance(value, _OBJECTS + _PLAIN)


def text_sizes(text: str | Scalar) -> tuple[Size | None, Size | None]:
    """How many characters and words a text has."""
    return (len(text), len(text.split())) if isinstance(text, str) else (text.length, text.words)


def _kind(value: Value) -> str | None:
    """Values of one kind are joined into one; None for objects, of which each is itself."""
    if isinstance(value, Tensor | Array | ListValue | DictValue):
        return type(value).__name__
    if isinstance(value, tuple):
        return f"tuple of {len(value)}"
    if isinstance(value, bool) or value == Scalar("bool"):
        return "bool"
    if isinstance(value, str) or value == Scalar("str"):
        return "str"
    return "number" if isinstance(value, int | float | Scalar | Dim) else None


def join_texts(left: str | Scalar, right: str | Scalar) -> Scalar:
    """One of two texts: what they have in common are the numbers of their characters and words."""
    one, two = text_sizes(left), text_sizes(right)
    length, words = (a if a == b else None for a, b in zip(one, two))
    return Scalar("str", length=length, words=words)


def alike(left: Value, right: Value) -> bool:
    """Whether one of two elements can stand for both."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        same = left.spec == right.spec and left.tags == right.tags and left.history == right.history
        return same and left.slots["node"] is right.slots["node"] and left.slots["cut"] is right.slots["cut"]
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(alike(a, b) for a, b in zip(left, right))
    plain = (bool, int, float, str, type(None))
    return left is right or (isinstance(left, plain) and type(left) is type(right) and left == right)


def _either(left: Value, right: Value) -> Value:
    """The forwards that one history or another carries."""
    return left | right if isinstance(left, frozenset) and isinstance(right, frozenset) else right


class Change(NamedTuple):
    """What stands in a slot."""

    slots: Slots
    key: Any
    value: Any


Delta = dict[tuple[int, Any], Change]


def _as_of(value: Value, delta: Delta) -> Value:
    """A list, dict or tensor as it is at the end of a branch, where it has been changed in it: what is undone for the
    others holds for one that only this branch has made."""
    if type(value) is tuple:
        items = tuple(_as_of(item, delta) for item in value)
        return value if all(one is other for one, other in zip(value, items)) else items
    if isinstance(value, ListValue | DictValue):
        change = delta.get((id(value.slots), "items"))
        if change is None or change.value is value.slots.get("items"):
            return value
        if isinstance(value, ListValue):
            return ListValue(change.value, value.type_name)
        return DictValue(change.value, value.type_name, value.factory)
    if isinstance(value, Tensor):
        changed = {key: delta[place].value for key in value.slots if (place := (id(value.slots), key)) in delta}
        if changed:
            copy = value.copy()
            copy.storage, copy.parameter, copy.owner = value.storage, value.parameter, value.owner
            copy.slots.update({**value.slots, **changed})
            return copy
    return value


class Heap:
    """All writes to slots go through `set`; a mark is a position in the journal."""

    def __init__(self, fresh: Callable[[str, bool], Symbol]) -> None:
        self._journal: list[tuple[Slots, Any, Any]] = []
        self.moment = 0
        """How often a variable was written so far: it only grows."""
        self._fresh = fresh
        self._sizes: dict[tuple[int, Size, Size], Size] = {}
        self.work = 0
        """Slots that were looked at so far to undo, keep and join branches: what that has cost."""
        self._joined = 0
        self._coin = False

    def set(self, slots: Slots, key: Any, value: Value) -> None:
        self._journal.append((slots, key, slots.get(key, MISSING)))
        if isinstance(slots, Names):
            slots.written(self.moment, key)
            self.moment += 1
        if value is MISSING:
            slots.pop(key, None)
        else:
            slots[key] = value
        if key == "items" and isinstance(slots, ContainerSlots) and slots.stands_for:
            self._forget(slots)

    def _forget(self, slots: ContainerSlots) -> None:
        """A container has changed that is one of several: what each of them holds is not known any more."""
        left, seen = [*slots.stands_for], {id(slots)}
        while left:
            one = left.pop()
            if id(one) not in seen:
                seen.add(id(one))
                left += one.stands_for
                self._journal.append((one, "items", one["items"]))
                one["items"] = None

    def mark(self) -> int:
        return len(self._journal)

    def delta(self, mark: int) -> Delta:
        """What changed since the mark, with the present values."""
        found: Delta = {}
        self.work += len(self._journal) - mark
        for slots, key, _ in self._journal[mark:]:
            place = (id(slots), key)
            if place not in found:
                found[place] = Change(slots, key, slots.get(key, MISSING))
        return found

    def rollback(self, mark: int) -> Delta:
        """Undo everything since the mark and return it."""
        undone = self.delta(mark)
        while len(self._journal) > mark:
            slots, key, old = self._journal.pop()
            if isinstance(slots, Names):
                slots.written(self.moment, key)
                self.moment += 1
            if old is MISSING:
                slots.pop(key, None)
            else:
                slots[key] = old
        return undone

    def keep(self, mark: int) -> None:
        """What was done since the mark holds whatever is undone."""
        del self._journal[mark:]

    def apply(self, delta: Delta) -> None:
        for change in delta.values():
            self.set(change.slots, change.key, change.value)

    def join(self, deltas: list[Delta], coin: bool = False) -> None:
        """From the present state, the state that any one of `deltas` leads to. `coin`: chance alone decides which one, so
        that each of them happens."""
        self._coin = coin
        if len(deltas) == 1:
            self.apply(deltas[0])
            return
        places = {place: change for delta in deltas for place, change in delta.items()}
        self.work += len(places) * len(deltas)
        self._sizes = {}
        for place, change in places.items():
            base = change.slots.get(change.key, MISSING)
            values = [delta[place].value if place in delta else base for delta in deltas]
            if any(value is not values[0] for value in values):
                values = [_as_of(value, delta) for value, delta in zip(values, deltas)]
            if isinstance(change.slots, FactSlots):
                agreed = all(value == values[0] for value in values)
                self.set(change.slots, change.key, values[0] if agreed else MISSING)
                continue
            join = self.join_elements if isinstance(change.slots, ListSlots) else self.join_values
            if isinstance(change.slots, DictSlots):
                join = self.join_entries
            if change.key == "history" and isinstance(change.slots, StateSlots):
                join = _either
            joined = values[0]
            for self._joined, value in enumerate(values[1:]):
                joined = join(joined, value)
            if isinstance(joined, Choice) and isinstance(change.slots, StateSlots):
                joined = UNKNOWN
            self.set(change.slots, change.key, joined)
        self._coin = False

    def join_all(self, values: tuple[Value, ...]) -> Value:
        """The least value that covers all of these; MISSING if there are none."""
        outer = self._sizes, self._joined
        self._sizes = {}
        joined: Value = MISSING
        for self._joined, value in enumerate(values):
            joined = self.join_values(joined, value)
        self._sizes, self._joined = outer
        return joined

    def one_of(self, value: Value) -> Value:
        """One of those that a list or dict stands for: what is done to it is not done to all of them."""
        one: ListValue | DictValue
        if isinstance(value, ListValue) and value.once is None:
            one = ListValue(value.slots["items"], value.type_name)
        elif isinstance(value, DictValue):
            one = DictValue(value.slots["items"], value.type_name, value.factory)
            one.from_file = value.from_file
        else:
            return value
        one.slots.stands_for = (value.slots,)
        return one

    def _join_sizes(self, left: Size, right: Size) -> Size:
        """A size that is `left` in the one state and `right` in the other: the same one wherever that is so."""
        if left == right:
            return left
        key = (self._joined, left, right)
        if key not in self._sizes:
            positive = all(dims.positive(size) == 1 for size in (left, right))
            self._sizes[key] = dims.of(self._fresh("?", positive))
        return self._sizes[key]

    # -- the lattice -------------------------------------------------------------------------------

    def join_values(self, left: Value, right: Value) -> Value:
        """The least value that covers both. A missing name covers nothing: using it would have failed."""
        if left is right or left is MISSING:
            return right
        if right is MISSING:
            return left
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            same = left.spec == right.spec and left.tags == right.tags and left.history == right.history
            if same and left.slots["node"] is right.slots["node"] and left.slots["cut"] is right.slots["cut"]:
                return left
            joined = Tensor(
                self.join_specs(left.spec, right.spec),
                left.origin or right.origin,
                left.tags & right.tags,
                left.history | right.history,
            )
            joined.parameter = left.parameter and right.parameter
            for name in ("node", "cut"):
                joined.slots[name] = self.join_values(left.slots[name], right.slots[name])
            return joined
        if isinstance(left, Cut) and isinstance(right, Cut):
            return left
        if isinstance(left, Trained) and isinstance(right, Trained):
            return left.joined(right)
        if isinstance(left, TensorSpec) and isinstance(right, TensorSpec):
            return self.join_specs(left, right)
        if isinstance(left, Array) and isinstance(right, Array):
            joined_array = Array(self.join_specs(left.spec, right.spec))
            backwards = left.slots["mirrored"], right.slots["mirrored"]
            if None in backwards or (backwards[0] != backwards[1] and not self._coin):
                joined_array.slots["mirrored"] = None
            else:
                joined_array.slots["mirrored"] = backwards[0] | backwards[1]
            return joined_array
        if isinstance(left, bool) and isinstance(right, bool):
            return left if left == right else Scalar("bool")
        if is_int(left) and is_int(right):
            return self._join_sizes(left, right)
        numbers = (int, float)
        if isinstance(left, numbers) and isinstance(right, numbers):
            return left if left == right and type(left) is type(right) else Scalar("float")
        if self._is_floating(left) and self._is_floating(right):
            # A number in any case: where one of the two left the autograd graph is worth knowing.
            return Scalar("float", next((n.cut for n in (left, right) if isinstance(n, Scalar) and n.cut), None))
        if isinstance(left, str | Device) and isinstance(right, str | Device):
            return left if left == right else self._join_devices(left, right)
        if isinstance(left, frozenset) and isinstance(right, frozenset):
            return left & right
        if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
            joined_items = tuple(self.join_values(a, b) for a, b in zip(left, right))
            if isinstance(left, NamedResult) and left.alike(right):
                return NamedResult(left.fields, joined_items, left.of)
            return joined_items
        if isinstance(left, dict) and isinstance(right, dict):
            both = left.keys() & right.keys()
            keys = {**left, **right}
            return {key: self.join_values(left[key], right[key]) if key in both else UNKNOWN for key in keys}
        if isinstance(left, ListValue) and isinstance(right, ListValue):
            either = ListValue(self.join_elements(left.elements, right.elements), left.type_name)
            either.slots.stands_for = (left.slots, right.slots)
            return either
        if isinstance(left, DictValue) and isinstance(right, DictValue):
            same = left.type_name == right.type_name and left.factory == right.factory
            type_name, factory = (left.type_name, left.factory) if same else ("dict", None)
            one_of = DictValue(self.join_entries(left.entries, right.entries), type_name, factory)
            one_of.slots.stands_for = (left.slots, right.slots)
            return one_of
        if isinstance(left, DType) and isinstance(right, DType) and left == right:
            return left
        kind = _kind(left)
        if kind == "str" and _kind(right) == "str":
            return join_texts(left, right)
        try:
            if type(left) is type(right) and left == right:
                return left
        except Exception:
            pass
        if kind is not None and kind == _kind(right):
            return Scalar(kind) if kind == "bool" else UNKNOWN
        return self._choice(left, right)

    def _choice(self, left: Value, right: Value) -> Value:
        """One of two values of different kinds."""
        kept: list[Value] = []
        for value in (*options(left), *options(right)):
            if is_unknown(value):
                return UNKNOWN
            for index, other in enumerate(kept):
                joined = other if other is value else MISSING
                if _kind(value) is not None and _kind(value) == _kind(other):
                    joined = self.join_values(other, value)
                if is_unknown(joined):
                    return UNKNOWN
                if joined is not MISSING and not isinstance(joined, Choice):
                    kept[index] = joined
                    break
            else:
                kept.append(value)
        return Choice(tuple(kept)) if len(kept) <= MAX_KINDS and all(map(_may_be_chosen, kept)) else UNKNOWN

    def join_elements(self, left: Value, right: Value) -> tuple[Value, ...] | None:
        """The elements of a list that is one of two."""
        if not isinstance(left, tuple) or not isinstance(right, tuple):
            return None
        if len(left) == len(right) and not isinstance(left, Several) and not isinstance(right, Several):
            return tuple(self.join_values(a, b) for a, b in zip(left, right))
        return self.several((*left, *right))

    def join_entries(self, left: Value, right: Value) -> dict[Any, Value] | None:
        """The entries of a dict that is one of two: those that only one has may be missing."""
        if not isinstance(left, dict) or not isinstance(right, dict):
            return None
        joined: dict[Any, Value] = {}
        for key in (*left, *(key for key in right if key not in left)):
            one, two = left.get(key, MISSING), right.get(key, MISSING)
            value = self.join_values(entry(one), entry(two))
            certain = key is OTHERS or not (one is MISSING or two is MISSING or Maybe in (type(one), type(two)))
            joined[key] = value if certain else Maybe(value)
        return joined

    def several(self, elements: tuple[Value, ...]) -> Several:
        """A few elements that stand for these, in any number."""
        kept: list[Value] = []
        for position, element in enumerate(elements):
            if any(alike(element, other) for other in kept):
                continue
            kept.append(element)
            if len(kept) > MAX_KINDS:
                return Several((self.join_all((*kept, *elements[position + 1 :])),))
        return Several(kept)

    @staticmethod
    def _is_floating(value: Value) -> bool:
        return isinstance(value, float | Dim) or value == Scalar("float") or is_int(value)

    @staticmethod
    def _join_devices(left: str | Device, right: str | Device) -> Value:
        """``"cuda"`` or ``"cpu"``, whatever decides it, is the accelerator when there is one."""
        pair = [parse(side) if isinstance(side, str) else side for side in (left, right)]
        kinds = {device.kind for device in pair}
        if kinds & {"cuda", "mps", "xpu"}:
            if "cpu" in kinds or any(device.symbolic for device in pair):
                kind = next(kind for kind in ("cuda", "mps", "xpu") if kind in kinds)
                return Device(kind, symbolic=True)
        return join_texts(left, right) if isinstance(left, str) and isinstance(right, str) else UNKNOWN

    def join_specs(self, left: TensorSpec, right: TensorSpec) -> TensorSpec:
        if left == right:
            return left
        shape = None
        if left.shape is not None and right.shape is not None and len(left.shape) == len(right.shape):
            shape = tuple(self._join_sizes(a, b) for a, b in zip(left.shape, right.shape))
        device = left.device if left.device == right.device else None
        if device is None and isinstance(left.device, Device) and isinstance(right.device, Device):
            joined = self._join_devices(left.device, right.device)
            device = joined if isinstance(joined, Device) else None
        return TensorSpec(
            shape,
            left.dtype if left.dtype == right.dtype else None,
            device,
            left.requires_grad if left.requires_grad == right.requires_grad else None,
            left.strides if left.strides == right.strides and shape == left.shape else None,
        )

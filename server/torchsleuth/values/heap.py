"""The journal of every mutation, so that a branch can be undone, and two branches joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

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
    Reason,
    Scalar,
    Several,
    Slots,
    StateSlots,
    Tensor,
    Trained,
    Unknown,
    Value,
    entry,
    is_int,
    is_unknown,
)
from torchsleuth.values.changes import Change, Delta
from torchsleuth.values.conditions import Condition, Conditions, Fact
from torchsleuth.values.graph import Cut
from torchsleuth.values.names import Names

MISSING: Any = object()
MAX_KINDS = 4
"""Different elements that stand for those of a list of unknown length; beyond that they are joined into one."""


_OBJECTS = (Tensor, Array, ListValue, DictValue, Instance, LibraryModule, LibraryObject, Function, ClassValue, Bound)
_REMEMBER = (Unknown, Scalar, Choice, Tensor, Array, ListValue, DictValue)
"""Kinds of values that remember which two they were joined from."""
MAX_PLANNED = 12
"""States that are joined in the order of the conditions that tell them apart."""
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
    if isinstance(value, float) or value == Scalar("float"):
        return "float"
    return "int" if is_int(value) else None


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


def renewed(value: Value) -> Value:
    """Another value of which the same is known: the next of those that one stands for."""
    if isinstance(value, Unknown):
        return Unknown(value.reason, value.node, value.frame, value.cause)
    if isinstance(value, Scalar):
        return replace(value)
    if isinstance(value, Choice):
        return Choice(value.options)
    return tuple(map(renewed, value)) if type(value) is tuple else value


def _either(left: Value, right: Value) -> Value:
    """The forwards that one history or another carries."""
    return left | right if isinstance(left, frozenset) and isinstance(right, frozenset) else right


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


def _opposed(held: list[dict[Any, Value]], left: list[int]) -> tuple[int, int, Condition | None]:
    """Two states that differ in whether a condition holds, best in that alone."""
    best: tuple[int, int, Condition | None] = (left[0], left[1], None)
    fewest = None
    for position, one in enumerate(left):
        for other in left[position + 1 :]:
            first, second = held[one], held[other]
            apart = [key for key in first if key in second and first[key] != second[key] and key.kind != "value"]
            if apart:
                others = len(first.keys() ^ second.keys()) + len(apart) - 1
                if fewest is None or others < fewest:
                    best, fewest = (one, other, apart[0]), others
    return best


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
        self._condition: Condition | None = None
        self.conditions = Conditions()

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
        """The changes since the mark, with the present values."""
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
        """Make the changes since the mark hold whatever is undone."""
        del self._journal[mark:]

    def apply(self, delta: Delta) -> None:
        for change in delta.values():
            self.set(change.slots, change.key, change.value)

    def join(self, deltas: list[Delta], coin: bool = False, values: Sequence[Value] = ()) -> Value:
        """From the present state, the state that any one of `deltas` leads to. `coin`: chance alone decides which one, so
        that each of them happens. `values`: what each of them gives; their join is the result."""
        if len(deltas) == 1:
            self.apply(deltas[0])
            return values[0] if values else UNKNOWN
        self._coin = coin
        self._sizes = {}
        plan = self._plan(deltas)
        places = {place: change for delta in deltas for place, change in delta.items()}
        self.work += len(places) * len(deltas)
        for place, change in places.items():
            base = change.slots.get(change.key, MISSING)
            found = [delta[place].value if place in delta else base for delta in deltas]
            if any(value is not found[0] for value in found):
                found = [_as_of(value, delta) for value, delta in zip(found, deltas)]
            if isinstance(change.slots, FactSlots):
                agreed = all(value == found[0] for value in found)
                self.set(change.slots, change.key, found[0] if agreed else MISSING)
                continue
            join = self.join_elements if isinstance(change.slots, ListSlots) else self.join_values
            if isinstance(change.slots, DictSlots):
                join = self.join_entries
            if change.key == "history" and isinstance(change.slots, StateSlots):
                join = _either
            joined = self._fold(found, plan, join)
            if isinstance(joined, Choice) and isinstance(change.slots, StateSlots):
                joined = UNKNOWN
            self.set(change.slots, change.key, joined)
        self._coin = False
        return self._fold([_as_of(value, delta) for value, delta in zip(values, deltas)], plan, self.join_values)

    def _plan(self, deltas: list[Delta]) -> list[tuple[int, int, Condition | None]]:
        """Which of the states are joined one after the other, each time into the first of two, and the condition under
        which it is the first and not the second."""
        assumed = self.conditions.assumed
        held = [{c.key: c.value for c in delta.values() if c.slots is assumed} for delta in deltas]
        left = list(range(len(deltas)))
        plan: list[tuple[int, int, Condition | None]] = []
        while len(left) > 1:
            one, other, condition = _opposed(held, left) if len(left) <= MAX_PLANNED else (left[0], left[1], None)
            if condition is not None and held[one][condition] is not True:
                one, other = other, one
            held[one] = {key: value for key, value in held[one].items() if held[other].get(key) == value}
            left.remove(other)
            plan.append((one, other, condition))
        return plan

    def _fold(
        self,
        values: list[Value],
        plan: list[tuple[int, int, Condition | None]],
        join: Callable[[Value, Value], Value],
    ) -> Value:
        """The values of several states joined in this order."""
        if not values:
            return UNKNOWN
        first, outer = 0, self._condition
        for self._joined, (one, other, self._condition) in enumerate(plan):
            values[one] = join(values[one], values[other])
            first = one
        self._condition = outer
        return values[first]

    def join_all(self, values: tuple[Value, ...]) -> Value:
        """The least value that covers all of these; MISSING if there are none."""
        outer = self._sizes, self._joined, self._condition
        self._sizes, self._condition = {}, None
        joined: Value = MISSING
        for self._joined, value in enumerate(values):
            joined = self.join_values(joined, value)
        self._sizes, self._joined, self._condition = outer
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
            symbol = self._fresh("?", positive)
            self._sizes[key] = dims.of(symbol)
            if self._condition is not None:
                self.conditions.split_size(symbol, self._condition, left, right)
        return self._sizes[key]

    # -- the lattice -------------------------------------------------------------------------------

    def join_values(self, left: Value, right: Value) -> Value:
        """The least value that covers both. A missing name covers nothing: using it would have failed."""
        if left is right or left is MISSING:
            return right
        if right is MISSING:
            return left
        joined = self._least(left, right)
        if isinstance(joined, Unknown) and joined.cause is None:
            joined = Unknown(Reason.JOIN)
        of_two = joined is not left and joined is not right and isinstance(joined, _REMEMBER)
        if self._condition is not None and of_two:
            self.conditions.split(joined, self._condition, left, right)
        return joined

    def _least(self, left: Value, right: Value) -> Value:
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            cause = left if isinstance(left, Unknown) else right
            return Unknown(Reason.JOIN, cause=cause)
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
        if _kind(left) == _kind(right) == "float":
            # A number in any case: where one of the two left the autograd graph is worth knowing.
            if isinstance(left, float) and isinstance(right, float) and repr(left) == repr(right):
                return left
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
                # Two that may be anything of a type: the result is neither of them.
                return replace(left) if isinstance(left, Scalar) else left
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

    def _join_devices(self, left: str | Device, right: str | Device) -> Value:
        """``"cuda"`` or ``"cpu"``, whatever decides it, is the accelerator when there is one."""
        pair = [parse(side) if isinstance(side, str) else side for side in (left, right)]
        kinds = {device.kind for device in pair}
        if kinds & {"cuda", "mps", "xpu"}:
            if "cpu" in kinds or any(device.symbolic for device in pair):
                kind = next(kind for kind in ("cuda", "mps", "xpu") if kind in kinds)
                if self._condition is None:
                    return Device(kind, symbolic=True)
                on_left = pair[0].kind == kind
                return Device(kind, symbolic=True, when=Fact(self._condition, on_left))
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

"""The journal of every mutation, so that a branch can be undone, and two branches joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchsleuth.tensors.dims import Symbol
from torchsleuth.values import (
    UNKNOWN,
    AttributeSlots,
    Choice,
    ContainerSlots,
    DictSlots,
    DictValue,
    FactSlots,
    Kin,
    ListSlots,
    ListValue,
    Slots,
    StateSlots,
    Tensor,
    Value,
)
from torchsleuth.values.changes import Change, Delta
from torchsleuth.values.conditions import Condition
from torchsleuth.values.join import MISSING, Joins
from torchsleuth.values.names import Names

MAX_PLANNED = 12
"""States that are joined in the order of the conditions that tell them apart."""


def _either(left: Value, right: Value) -> Value:
    """The forwards that one history or another carries."""
    return left | right if isinstance(left, frozenset) and isinstance(right, frozenset) else right


def _as_of(value: Value, delta: Delta) -> Value:
    """A list, dict or tensor as it is at the end of a branch, where it has been changed in it: what is undone for the
    others holds for one that only this branch has made."""
    if type(value) is tuple:
        items = tuple(_as_of(item, delta) for item in value)
        return value if all(one is other for one, other in zip(value, items)) else items
    match value:
        case ListValue() | DictValue():
            change = delta.get((id(value.slots), "items"))
            if change is None or change.value is value.slots.get("items"):
                return value
            if isinstance(value, ListValue):
                return ListValue(change.value, value.type_name)
            return DictValue(change.value, value.type_name, value.factory)
        case Tensor():
            changed = {key: delta[place].value for key in value.slots if (place := (id(value.slots), key)) in delta}
            if changed:
                copy = value.copy()
                copy.storage, copy.parameter, copy.owner = value.storage, value.parameter, value.owner
                copy.slots.update({**value.slots, **changed})
                return copy
    return value


def _others(slots: ContainerSlots) -> list[ContainerSlots]:
    """The containers that one may be: those that it stands for, and all that stand for one of these or for itself."""
    members = _reached([slots], lambda one: one.stands_for)
    return [one for one in _reached(members, lambda one: one.stood_for_by) if one is not slots]


def _reached(
    start: list[ContainerSlots], following: Callable[[ContainerSlots], tuple[ContainerSlots, ...]]
) -> list[ContainerSlots]:
    reached, seen = [*start], {id(one) for one in start}
    for one in reached:
        new = [other for other in following(one) if id(other) not in seen]
        seen.update(map(id, new))
        reached += new
    return reached


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


class Heap(Joins):
    """All writes to slots go through `set`; a mark is a position in the journal."""

    def __init__(self, fresh: Callable[[str, bool], Symbol]) -> None:
        super().__init__(fresh)
        self._journal: list[tuple[Slots, Any, Any]] = []
        self.moment = 0
        """How often a variable was written so far: it only grows."""
        self.work = 0
        """Slots that were looked at so far to undo, keep and join branches: what that has cost."""

    def set(self, slots: Slots, key: Any, value: Value) -> None:
        self._write(slots, key, value)
        if isinstance(slots, AttributeSlots) and slots.kin is not None:
            self._spread(slots, slots.kin, key, value)

    def _spread(self, slots: AttributeSlots, kin: Kin, key: Any, value: Value) -> None:
        """An attribute was set of one of several instances: those that it may be mistaken for may have it now."""
        stands_for_one = any(one.slots is slots for one in kin.anyone)
        for other in (*(kin.members if stands_for_one else ()), *kin.anyone):
            if other.slots is not slots:
                self.work += 1
                old = other.slots.get(key, MISSING)
                self._write(other.slots, key, UNKNOWN if value is MISSING else self.join_all((old, value)))

    def _write(self, slots: Slots, key: Any, value: Value) -> None:
        self._journal.append((slots, key, slots.get(key, MISSING)))
        if isinstance(slots, Names):
            slots.written(self.moment, key)
            self.moment += 1
        if value is MISSING:
            slots.pop(key, None)
        else:
            slots[key] = value
        if key == "items" and isinstance(slots, ContainerSlots) and (slots.stands_for or slots.stood_for_by):
            self._spread_items(slots)

    def _spread_items(self, slots: ContainerSlots) -> None:
        """A container has changed that is one of several, or may be meant by another one: each of these may hold what it
        holds now, or what it held before."""
        changed = slots["items"]
        for one in _others(slots):
            if one["items"] is not None:
                self.work += 1
                self._journal.append((one, "items", one["items"]))
                one["items"] = self._either_items(one, changed)

    def _either_items(self, slots: ContainerSlots, changed: Value) -> Value:
        """The contents of a container that may have changed as another one did."""
        before = slots["items"]
        if isinstance(slots, DictSlots):
            return self.join_entries(before, changed)
        if not isinstance(before, tuple) or not isinstance(changed, tuple):
            return None
        return self.several((*before, *changed))

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

    def changes_before(self, mark: int, born: int) -> frozenset[Any]:
        """The keys that were written since the mark in slots that are older than `born`; facts aside, which are found out."""
        written = [(slots, key) for slots, key, _ in self._journal[mark:] if not isinstance(slots, FactSlots)]
        return frozenset(key for slots, key in written if getattr(slots, "born", born) < born)

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
            self._write(change.slots, change.key, change.value)

    def join(
        self, deltas: list[Delta], coin: bool = False, values: Sequence[Value] = (), branches: bool = False
    ) -> Value:
        """From the present state, the state that any one of `deltas` leads to. `coin`: chance alone decides which one, so
        that each of them happens. `values`: what each of them gives; their join is the result. `branches`: they are those
        of a condition, and not of the turns of a loop."""
        if len(deltas) == 1:
            self.apply(deltas[0])
            return values[0] if values else UNKNOWN
        self._coin, self._branches = coin, branches
        self._sizes = {}
        plan = self._plan(deltas)
        places = {place: change for delta in deltas for place, change in delta.items()}
        self.work += len(places) * len(deltas)
        for place, change in places.items():
            base = change.slots.get(change.key, MISSING)
            found = [delta[place].value if place in delta else base for delta in deltas]
            first = found[0]
            if all([value is first for value in found]):
                self._write(change.slots, change.key, first)
                continue
            found = [_as_of(value, delta) for value, delta in zip(found, deltas)]
            if isinstance(change.slots, FactSlots):
                agreed = all(value == found[0] for value in found)
                self._write(change.slots, change.key, found[0] if agreed else MISSING)
                continue
            join = self.join_elements if isinstance(change.slots, ListSlots) else self.join_values
            if isinstance(change.slots, DictSlots):
                join = self.join_entries
            if change.key == "history" and isinstance(change.slots, StateSlots):
                join = _either
            joined = self._fold(found, plan, join)
            if isinstance(joined, Choice) and isinstance(change.slots, StateSlots):
                joined = UNKNOWN
            self._write(change.slots, change.key, joined)
        self._coin = False
        joined = self._fold([_as_of(value, delta) for value, delta in zip(values, deltas)], plan, self.join_values)
        self._branches = False
        return joined

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

    def one_of(self, value: Value) -> Value:
        """One of those that a list or dict stands for: what is done to it is not done to all of them."""
        one: ListValue | DictValue
        match value:
            case ListValue() if value.once is None:
                one = ListValue(value.elements, value.type_name)
            case DictValue():
                one = DictValue(value.entries, value.type_name, value.factory)
                one.from_file = value.from_file
            case _:
                return value
        one.slots.stand_for(value.slots)
        return one

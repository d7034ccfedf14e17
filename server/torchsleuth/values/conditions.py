"""Conditions that are not decided: the same one is recognised where it is tested again, and what depends on it is known there.

A condition is a test of values, each of which is recognised by its identity: an abstract value that may be one of several
stands for one value of the program. What two branches gave is joined into a value that remembers what it is in each of
them (`Conditions.split`); read where the condition is assumed, it is that again (`Conditions.under`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from torchsleuth.sifting import as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.tensors.dims import Dim, Size, Symbol
from torchsleuth.tensors.spec import DType, Native
from torchsleuth.values import (
    Availability,
    Choice,
    ClassValue,
    DictValue,
    FactSlots,
    Function,
    ListValue,
    Ref,
    Scalar,
    Several,
    Tensor,
    Unknown,
    Value,
)

Outcome = Callable[["Condition", Value], bool | None]
"""Whether a test holds of a value in the place of its first operand."""
MAX_DEPTH = 8
"""Splits within splits that are followed to what a value is."""


class Same:
    """The identity of a value."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Condition(NamedTuple):
    """A test, such as ``is`` or ``isinstance``, of its operands as `identity` gives them. Of ``and`` and ``or`` the operand is a
    frozenset of facts."""

    kind: str
    operands: tuple[Hashable, ...]


class Fact(NamedTuple):
    """That a condition holds, or that it does not."""

    condition: Condition
    holds: bool

    @property
    def negated(self) -> Fact:
        return Fact(self.condition, not self.holds)


_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def identity(value: Value) -> Hashable | None:
    """The key that two occurrences of one value share; None where that cannot be told."""
    if isinstance(value, _PLAIN):
        return (type(value), value)
    match value:
        case Unknown():
            return Same(value) if value.is_one_value else None
        case Availability() | Dim() | Native() | DType() | Device():
            return value
        case Several():
            return None
        case tuple():
            parts = tuple(identity(part) for part in value)
            return None if None in parts else parts
    return Same(value) if isinstance(value, Scalar | Choice | Ref | Function | ClassValue) else None


def content(value: Value) -> Hashable | None:
    """The key that two occurrences of one value share if they hold the same, too."""
    found = identity(value)
    if isinstance(value, ListValue | DictValue):
        return (found, Same(value.slots["items"]))
    return None if isinstance(value, Ref) and not isinstance(value, ClassValue) else found


class _Split(NamedTuple):
    """The value where conditions hold, and where they do not. `state`: the slots that it had when it was made."""

    value: Value
    cases: dict[Condition, tuple[Value, Value]]
    state: dict[Any, Value] | None


class Conditions:
    """The assumptions that hold, and the values under them."""

    def __init__(self) -> None:
        self.assumed: dict[Any, Any] = FactSlots()
        """Conditions, and whether they hold here: slots of the heap, so that they end with the branch that they hold in."""
        self._splits: dict[int, _Split] = {}
        self._told: dict[int, tuple[Value, Fact]] = {}
        self._sizes: dict[Symbol, dict[Condition, tuple[Size, Size]]] = {}
        self._lengths: dict[Hashable, Value] = {}
        self.types: dict[Hashable, Value] = {}
        """The types that conditions with ``isinstance`` ask for, by their identity."""

    # -- what values are where a condition holds -----------------------------------------------------

    def split(self, value: Value, condition: Condition, where: Value, otherwise: Value) -> None:
        """Note what a value is where a condition holds, and where it does not."""
        known = self._splits.get(id(value))
        if known is None or known.value is not value:
            known = self._splits[id(value)] = _Split(value, {}, _state(value))
        known.cases.setdefault(condition, (where, otherwise))

    def cases(self, value: Value) -> dict[Condition, tuple[Value, Value]]:
        """By condition, what a value is where it holds, and where it does not."""
        known = self._splits.get(id(value))
        return known.cases if known is not None and known.value is value else {}

    def under(self, value: Value) -> Value:
        """The value as far as what is assumed tells it."""
        for _ in range(MAX_DEPTH):
            known = self._splits.get(id(value))
            if known is None or known.value is not value or not _is_state(known.state, value):
                return value
            for condition, cases in known.cases.items():
                holds = self.verdict(condition)
                if holds is not None and cases[not holds] is not value:
                    value = cases[not holds]
                    break
            else:
                return value
        return value

    def place(self, device: Device | None) -> Device | None:
        """The device as far as what is assumed tells it."""
        if device is None or (device.when is None and not device.symbolic):
            return device
        condition, holds = device.when or (Condition("truth", (Availability(device.kind),)), True)
        verdict = self.verdict(condition)
        return device if verdict is None else Device(device.kind) if verdict == holds else CPU

    @property
    def unavailable(self) -> frozenset[str]:
        """The accelerators that are not there, where this is assumed."""
        tested = ((one.operands[0], holds) for one, holds in self.assumed.items() if one.kind == "truth")
        return frozenset(one.kind for one, holds in tested if isinstance(one, Availability) and not holds)

    def split_size(self, symbol: Symbol, condition: Condition, where: Size, otherwise: Size) -> None:
        """Note what an unknown size is where a condition holds, and where it does not."""
        self._sizes.setdefault(symbol, {}).setdefault(condition, (where, otherwise))

    def renamed(self, symbol: Symbol, other: Symbol) -> None:
        """Another symbol stands for the same size."""
        if symbol in self._sizes:
            self._sizes[other] = self._sizes[symbol]

    def is_conditional(self, value: Size) -> bool:
        """Whether a size is another one where some condition holds."""
        return any(symbol in self._sizes for symbol in dims.symbols(value))

    def size(self, value: Dim) -> Size:
        """A size as far as what is assumed tells it."""
        if any(symbol in self._sizes for symbol in value.symbols):
            return dims.rebuild(value, self._size)
        return value

    def _size(self, symbol: Symbol) -> Size:
        for condition, (where, otherwise) in self._sizes.get(symbol, {}).items():
            holds = self.verdict(condition)
            if holds is not None:
                return where if holds else otherwise
        return dims.of(symbol)

    def length(self, container: Value, length: Value) -> Value:
        """The result that ``len()`` gave before for a container that holds the same; the length of now where it was not asked."""
        held = content(container)
        return length if held is None else self._lengths.setdefault(held, length)

    # -- whether conditions hold ---------------------------------------------------------------------

    def of(self, value: Value) -> Fact | None:
        """The facts where a value, whose truth is not known, is true."""
        told = self._told.get(id(value))
        if told is not None and told[0] is value:
            return told[1]
        for condition, (where, otherwise) in self.cases(value).items():
            if isinstance(where, bool) and otherwise is not where and isinstance(otherwise, bool):
                return Fact(condition, where)
        found = content(value)
        return None if found is None else Fact(Condition("truth", (found,)), True)

    def tell(self, value: Value, fact: Fact) -> None:
        """Note what is the case where a value is true."""
        self._told[id(value)] = (value, fact)

    def verdict(self, condition: Condition) -> bool | None:
        """Whether a condition holds, as far as what is assumed tells."""
        if not self.assumed:
            return None
        known = self.assumed.get(condition)
        if known is not None:
            return bool(known)
        kind, operands = condition
        if kind in ("and", "or"):
            verdicts = [self.holds(fact) for fact in operands[0]]  # type: ignore[attr-defined]
            stopping = kind == "or"
            if stopping in verdicts:
                return stopping
            return None if None in verdicts else not stopping
        if kind in ("is", "eq"):
            one, other = operands
            equal = self.assumed.get(Condition("value", (one,)))
            if equal is not None and is_constant(other):
                return bool(equal == (other,))
        if kind == "truth":
            equal = self.assumed.get(Condition("value", operands))
            return bool(equal[0][1]) if equal is not None else None
        if kind == "is" and operands[1] == (type(None), None) and self.assumed.get(Condition("truth", operands[:1])):
            return False
        return None

    def holds(self, fact: Fact) -> bool | None:
        verdict = self.verdict(fact.condition)
        return None if verdict is None else verdict == fact.holds

    def implied(self, fact: Fact, outcome: Outcome) -> list[Fact]:
        """A fact, and what follows from it."""
        found: list[Fact] = []
        left = [fact]
        while left:
            one = left.pop()
            if one in found or len(found) > MAX_DEPTH:
                continue
            found.append(one)
            kind, operands = one.condition
            if kind in ("and", "or") and one.holds == (kind == "and"):
                left += operands[0]  # type: ignore[arg-type]
                continue
            of = as_kind(operands[0], Same)
            if kind in ("and", "or") or of is None:
                continue
            self._narrow(of.value, one.condition, outcome)
            for condition, cases in self.cases(of.value).items():
                if condition == one.condition:
                    continue
                # One of the two values that it may be is ruled out by the test.
                fits = [outcome(one.condition, case) for case in cases]
                for ruled_out, holds in ((0, False), (1, True)):
                    if fits[ruled_out] is not None and fits[ruled_out] != one.holds:
                        left.append(Fact(condition, holds))
        return found

    def _narrow(self, value: Value, condition: Condition, outcome: Outcome) -> None:
        """Note which of the options of a value are ruled out by a test of it, and by its failing."""
        if not isinstance(value, Choice) or condition in self.cases(value):
            return
        fits = [outcome(condition, option) for option in value.options]
        kept = [tuple(one for one, fit in zip(value.options, fits) if fit is not wrong) for wrong in (False, True)]
        where, otherwise = (
            value if not some or len(some) == len(fits) else some[0] if len(some) == 1 else Choice(some)
            for some in kept
        )
        self.split(value, condition, where, otherwise)


_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.LtE: ast.GtE}
_NAMES: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Is: ("is", True),
    ast.IsNot: ("is", False),
    ast.Eq: ("eq", True),
    ast.NotEq: ("eq", False),
    ast.Lt: ("lt", True),
    ast.GtE: ("lt", False),
    ast.In: ("in", True),
    ast.NotIn: ("in", False),
}


def compared(operator: ast.cmpop, left: Value, right: Value) -> Fact | None:
    """The facts where a comparison is true."""
    kind = type(operator)
    if kind in _MIRRORED:
        kind, left, right = _MIRRORED[kind], right, left
    name, holds = _NAMES[kind]
    of = identity if name == "is" else content
    operands = of(left), of(right)
    if name in ("is", "eq") and is_constant(operands[0]):
        operands = operands[1], operands[0]
    return None if None in operands else Fact(Condition(name, operands), holds)


def is_constant(operand: Hashable) -> bool:
    return isinstance(operand, tuple) and len(operand) == 2 and operand[0] in _PLAIN


def _state(value: Value) -> dict[Any, Value] | None:
    if not isinstance(value, Tensor):
        return None
    return {**value.slots, "version": value.storage.slots["version"]}


def _is_state(state: dict[Any, Value] | None, value: Value) -> bool:
    """Whether what was noted of a value is still so: what is done to one of two is not done to each of them."""
    now = _state(value)
    if state is None or now is None:
        return True
    return now.keys() == state.keys() and all(now[key] is state[key] for key in now)

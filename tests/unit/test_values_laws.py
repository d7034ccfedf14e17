"""The laws of the join of values and of states: an upper bound, commutative, associative, idempotent, and what both sides
say is kept. `python -m benchmarks.lattice` runs them on many more examples."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.lattice import MUTANTS, ROOT, Mutant
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.tensors.dims import Dim, Size, Symbol
from torchsleuth.tensors.spec import DType, TensorSpec
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Array,
    Bounds,
    Choice,
    DictValue,
    FactSlots,
    LibraryModule,
    ListValue,
    Maybe,
    NamedResult,
    Reason,
    Scalar,
    Several,
    Tensor,
    Unknown,
    Value,
    entry,
    is_int,
)
from torchsleuth.values.conditions import Condition, Fact, Same
from torchsleuth.values.heap import Heap
from torchsleuth.values.join import MAX_KINDS, MISSING, kind_of, options

EXAMPLES = int(os.environ.get("LATTICE_EXAMPLES", "100"))
LAW = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
NAMED = [Symbol(name, number) for number, name in enumerate("BTC", 1)]
FIRST_FRESH = 1000
MODULES = [LibraryModule(f"torch.nn.{name}", (), {}, None) for name in ("ReLU", "GELU", "Tanh")]


def heap() -> Heap:
    numbers = itertools.count(FIRST_FRESH)
    return Heap(lambda name, positive: Symbol(name, next(numbers), positive))


# -- values ----------------------------------------------------------------------------------------

integers = st.integers(-2, 6)
symbols = st.sampled_from(NAMED).map(dims.of)
sizes = st.one_of(
    st.integers(1, 6),
    symbols,
    st.tuples(symbols, st.integers(1, 3)).map(lambda pair: dims.add(*pair)),
    st.tuples(symbols, st.integers(2, 3)).map(lambda pair: dims.multiply(*pair)),
    st.tuples(symbols, symbols).map(lambda pair: dims.multiply(*pair)),
)
devices = st.sampled_from([None, CPU, Device("cuda"), Device("cuda", 1), Device("cuda", symbolic=True), Device("meta")])
tags = st.frozensets(st.sampled_from(["softmax", "sorted", "log", Bounds(0, 9), Bounds(0, 5)]), max_size=3)
shapes = st.one_of(st.none(), st.lists(sizes, max_size=3).map(tuple))
specs = st.builds(
    TensorSpec,
    shapes,
    st.sampled_from([None, "float32", "int64", "bool"]),
    devices,
    st.sampled_from([None, True, False]),
)
tensors = st.builds(Tensor, specs, st.none(), tags, st.frozensets(st.integers(1, 3), max_size=2))
arrays = st.builds(Array, specs, st.sampled_from([None, Bounds(0, 9), Bounds(0, 5)]))
texts = st.sampled_from(["", "a", "bc", "cpu", "cuda", "a b"])
scalars = st.sampled_from(["bool", "float", "str"]).map(Scalar)
counted = st.builds(Scalar, st.just("str"), length=sizes, words=st.one_of(st.none(), sizes))
floats = st.sampled_from([0.0, -0.0, 0.1, 1.0, float("inf"), float("nan")])
unknown = st.sampled_from(list(Reason)).map(Unknown)
leaves = st.one_of(
    st.none(), st.booleans(), integers, sizes, floats, texts, scalars, counted, tensors, arrays, unknown,
    st.sampled_from(MODULES), st.sampled_from(["float16", "int8"]).map(DType),
)  # fmt: skip


def _dict(entries: dict[Any, Value], maybe: set[int], others: Value) -> DictValue:
    made = {key: Maybe(value) if place in maybe else value for place, (key, value) in enumerate(entries.items())}
    if others is not MISSING:
        made[OTHERS] = (Scalar("str"), others)
    return DictValue(made)


def _containers(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    few = st.lists(values, max_size=3).map(tuple)
    names = st.sampled_from(["list", "set"])
    lengths = st.sampled_from([None, 7, dims.of(NAMED[0])])
    some = st.lists(values, min_size=1, max_size=MAX_KINDS).map(tuple)
    keys = st.sampled_from(["x", "y", 0])
    others = st.one_of(st.just(MISSING), values)
    return st.one_of(
        few,
        st.tuples(values, values).map(lambda pair: NamedResult(("values", "indices"), pair)),
        st.builds(ListValue, st.one_of(st.none(), few), names),
        st.builds(ListValue, st.builds(Several.counted, some, lengths), names),
        st.builds(_dict, st.dictionaries(keys, values, max_size=3), st.sets(st.integers(0, 2)), others),
        st.just(None).map(lambda _: DictValue(None)),
        st.builds(DictValue, st.dictionaries(keys, values, max_size=2), st.just("Counter")),
        st.lists(values, min_size=2, max_size=4).map(lambda parts: heap().join_all(tuple(parts))),
    )


values = st.recursive(leaves, _containers, max_leaves=6)


def several(number: int) -> st.SearchStrategy[tuple[Value, ...]]:
    """A few values, mostly of one kind: only these are joined into something else than a choice."""
    numbers = st.one_of(integers, sizes, floats, st.booleans())
    strings = st.one_of(texts, counted)
    lists = st.builds(ListValue, st.lists(numbers, max_size=2).map(tuple), st.sampled_from(["list", "set"]))
    dicts = st.dictionaries(st.sampled_from("xy"), numbers).map(DictValue)
    kinds = (values, tensors, tensors, arrays, numbers, strings, lists, dicts)
    return st.one_of(*(st.tuples(*[kind] * number) for kind in kinds))


pairs, triples = several(2), several(3)


# -- what a value covers, and what it says ---------------------------------------------------------


def is_fresh(size: Size) -> Symbol | None:
    symbol = dims.symbol(size) if isinstance(size, Dim) else None
    return symbol if symbol is not None and symbol.identity >= FIRST_FRESH else None


Bindings = dict[Symbol, Size]


def covers_size(whole: Size, part: Size, bound: Bindings) -> bool:
    symbol = is_fresh(whole)
    if symbol is None:
        return whole == part
    return bound.setdefault(symbol, part) == part and (not symbol.positive or dims.positive(part) == 1)


def covers_spec(whole: TensorSpec, part: TensorSpec, bound: Bindings) -> bool:
    if whole.shape is not None:
        if part.shape is None or len(part.shape) != len(whole.shape):
            return False
        if not all(covers_size(a, b, bound) for a, b in zip(whole.shape, part.shape)):
            return False
    device = whole.device in (None, part.device) or (
        whole.device is not None
        and whole.device.symbolic
        and part.device is not None
        and part.device.kind in ("cpu", whole.device.kind)
    )
    return device and whole.dtype in (None, part.dtype) and whole.requires_grad in (None, part.requires_grad)


def covers(whole: Value, part: Value, bound: Bindings) -> bool:
    """Whether everything that one value may be the other one may be, too."""
    if isinstance(whole, Unknown) or part is MISSING:
        return True
    if isinstance(part, Choice):
        return all(covers(whole, option, bound) for option in part.options)
    if isinstance(whole, Choice):
        return any(covers(option, part, {}) for option in whole.options)  # as for entries that may be missing, below
    if whole is part:
        return True
    if kind_of(whole) is None or kind_of(whole) != kind_of(part):
        return kind_of(whole) is None and type(whole) is type(part) and bool(whole == part)
    if is_int(whole):
        return covers_size(whole, part, bound)
    if isinstance(whole, Scalar):
        return whole.type != "str" or all(
            own is None or own == other for own, other in zip((whole.length, whole.words), _text(part))
        )
    if isinstance(whole, tuple):
        return all(covers(a, b, bound) for a, b in zip(whole, part))
    if isinstance(whole, Tensor):
        inside = whole.tags <= part.tags and whole.history >= part.history
        return inside and covers_spec(whole.spec, part.spec, bound)
    if isinstance(whole, Array):
        bounds = whole.slots["bounds"]
        return bounds in (None, part.slots["bounds"]) and covers_spec(whole.spec, part.spec, bound)
    if isinstance(whole, ListValue):
        return whole.type_name == part.type_name and covers_elements(whole.elements, part.elements, bound)
    if isinstance(whole, DictValue):
        return whole.type_name == part.type_name and covers_entries(whole.entries, part.entries, bound)
    return repr(whole) == repr(part)


def _text(value: Value) -> tuple[Any, Any]:
    return (len(value), len(value.split())) if isinstance(value, str) else (value.length, value.words)


def covers_elements(whole: Any, part: Any, bound: Bindings) -> bool:
    if whole is None or part is None:
        return whole is None
    if not isinstance(whole, Several):
        same = len(whole) == len(part) and not isinstance(part, Several)
        return same and all(covers(a, b, bound) for a, b in zip(whole, part))
    counted = whole.length is None or (isinstance(part, Several) and part.length == whole.length)
    return counted and all(any(covers(one, element, {}) for one in whole) for element in part)


def covers_entries(whole: Any, part: Any, bound: Bindings) -> bool:
    if whole is None or part is None:
        return whole is None
    certain = all(
        key is OTHERS or isinstance(value, Maybe) or (key in part and not isinstance(part[key], Maybe))
        for key, value in whole.items()
    )
    # That the size of an entry which may be missing equals another one is true in both orders, but not kept in both: the entry is
    # joined with nothing first in the one, and with a size in the other.
    return certain and all(
        key in whole and covers(entry(whole[key]), entry(part[key]), {} if isinstance(whole[key], Maybe) else bound)
        for key in part
    )


def facts(value: Value) -> frozenset[Any]:
    """What a value says, as far as two values can say the same."""
    if isinstance(value, Unknown) or value is MISSING:
        return frozenset()
    if isinstance(value, Choice):
        return frozenset.intersection(*map(facts, value.options))
    found: set[Any] = {("kind", kind_of(value) or id(value))}
    if is_int(value) and is_fresh(value) is None:
        found.add(("value", str(value)))
    elif isinstance(value, Dim) and is_fresh(value) is not None:
        found |= {("positive",)} if is_fresh(value).positive else set()  # type: ignore[union-attr]
    elif isinstance(value, str | Scalar):
        found |= {("value", value)} if isinstance(value, str) else set()
        if kind_of(value) == ("str",):
            found |= {(name, str(size)) for name, size in zip(("length", "words"), _text(value)) if size is not None}
    elif isinstance(value, bool | float):
        found.add(("value", repr(value)))
    elif isinstance(value, tuple):
        found |= {("item", place, one) for place, part in enumerate(value) for one in facts(part)}
        found |= {("fields", value.fields)} if isinstance(value, NamedResult) else set()
    elif isinstance(value, Tensor | Array):
        found |= spec_facts(value.spec)
        own = value.tags if isinstance(value, Tensor) else {value.slots["bounds"]} - {None}
        found |= {("tag", tag) for tag in own}
    elif isinstance(value, ListValue) and value.elements is not None:
        if value.items is not None:
            found.add(("length", str(len(value.items))))
            # Places are told apart in lists of one length alone; what is true of each element holds in any.
            count = len(value.items)
            found |= {("item", count, place, one) for place, part in enumerate(value.items) for one in facts(part)}
        elif isinstance(value.elements, Several) and value.elements.length is not None:
            found.add(("length", str(value.elements.length)))
        if value.elements:
            found |= {("each", one) for one in frozenset.intersection(*map(facts, value.elements))}
    elif isinstance(value, DictValue) and value.entries is not None:
        found.add(("keys",))
        for key, item in value.entries.items():
            found |= {("has", key)} if not isinstance(item, Maybe) and key is not OTHERS else set()
            found |= {("entry", key if key is not OTHERS else "others", one) for one in facts(entry(item))}
    return frozenset(found)


def spec_facts(spec: TensorSpec) -> set[Any]:
    found: set[Any] = {("dtype", spec.dtype), ("device", str(spec.device)), ("grad", spec.requires_grad)}
    found = {(name, known) for name, known in found if known not in (None, "None")}
    if spec.shape is not None:
        rank = len(spec.shape)  # without which no size can be told
        found.add(("rank", rank))
        found |= {("size", rank, place, str(size)) for place, size in enumerate(spec.shape) if is_fresh(size) is None}
    return found


def equivalent(left: Value, right: Value) -> bool:
    """Whether two values are the same but for the names of sizes that are not known."""
    return covers(left, right, {}) and covers(right, left, {})


# -- the laws --------------------------------------------------------------------------------------


@LAW
@given(pairs)
def test_an_upper_bound(pair: tuple[Value, Value]) -> None:
    left, right = pair
    joined = heap().join_values(left, right)
    assert covers(joined, left, {})
    assert covers(joined, right, {})


@LAW
@given(pairs)
def test_commutative(pair: tuple[Value, Value]) -> None:
    left, right = pair
    assert equivalent(heap().join_values(left, right), heap().join_values(right, left))


@LAW
@given(triples)
def test_associative(triple: tuple[Value, Value, Value]) -> None:
    one, two, three = triple
    first, second = heap(), heap()
    left = first.join_all((first.join_all((one, two)), three))
    right = second.join_all((one, second.join_all((two, three))))
    assert equivalent(left, right)


@LAW
@given(values)
def test_idempotent(value: Value) -> None:
    joined = heap().join_values(value, value)
    assert joined is value
    again = heap().join_values(joined, heap().join_all((value, value)))
    assert equivalent(again, value)


@LAW
@given(pairs)
def test_absorbed_by_what_covers_it(pair: tuple[Value, Value]) -> None:
    left, right = pair
    own = heap()
    joined = own.join_values(left, right)
    assert equivalent(own.join_values(joined, left), joined)


@LAW
@given(pairs)
def test_what_both_say_is_kept(pair: tuple[Value, Value]) -> None:
    left, right = pair
    joined = heap().join_values(left, right)
    both = facts(left) & facts(right)
    # More kinds than a choice may have are unknown, and so are kinds that cannot be chosen from.
    if not isinstance(joined, Unknown) or any(isinstance(side, Unknown) for side in (left, right)):
        assert both <= facts(joined), both - facts(joined)
    else:
        assert len(options(left)) + len(options(right)) > MAX_KINDS or not both


@LAW
@given(pairs)
def test_no_value_is_changed(pair: tuple[Value, Value]) -> None:
    left, right = pair
    before = facts(left), facts(right)
    heap().join_values(left, right)
    assert before == (facts(left), facts(right))


@LAW
@given(pairs)
def test_each_side_is_known_under_the_condition(pair: tuple[Value, Value]) -> None:
    left, right = pair
    own = heap()
    condition = Condition("truth", (Same(object()),))
    mark = own.mark()
    names: dict[Any, Value] = {}
    deltas = []
    for value, holds in ((left, True), (right, False)):
        own.set(names, "x", value)
        own.set(own.conditions.assumed, condition, holds)
        deltas.append(own.rollback(mark))
    own.join(deltas)
    assert not own.conditions.assumed
    for value, holds in ((left, True), (right, False)):
        own.set(own.conditions.assumed, condition, holds)
        known = own.conditions.under(names["x"])
        if isinstance(known, Dim):
            known = own.conditions.size(known)
        assert covers(known, value, {})
        if kind_of(left) != kind_of(right) and not isinstance(known, Tensor | tuple):
            assert known is value or equivalent(known, value)
        own.set(own.conditions.assumed, condition, MISSING)


# -- sizes, as sympy has them ----------------------------------------------------------------------


def as_sympy(size: Size) -> Any:
    if isinstance(size, int):
        return sympy.Integer(size)
    total = sympy.Integer(0)
    for monomial, coefficient in size.terms:
        term = sympy.Integer(coefficient)
        for atom, power in monomial:
            assert isinstance(atom, Symbol)
            term *= sympy.Symbol(f"{atom.name}{atom.identity}", integer=True, positive=atom.positive) ** power
        total += term
    return total


@LAW
@given(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=4))
def test_sizes_are_equal_where_sympy_says_so(pairs: list[tuple[Size, Size]]) -> None:
    left, right = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    joined = heap().join_specs(TensorSpec(left), TensorSpec(right)).shape
    assert joined is not None
    alike = [[sympy.expand(as_sympy(a) - as_sympy(b)) == 0 for b in side for a in side] for side in (left, right)]
    same = [one == other for other in joined for one in joined]
    assert same == [a and b for a, b in zip(*alike)]
    for size, one, two in zip(joined, left, right):
        difference = sympy.expand(as_sympy(one) - as_sympy(two))
        assert (is_fresh(size) is None) == (difference == 0)
        assert sympy.expand(as_sympy(one) - as_sympy(size)) == 0 or difference != 0


# -- states ----------------------------------------------------------------------------------------

NAMES = ["a", "b", "c"]
writes = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(NAMES), values), max_size=5)


class State:
    """Names of a function, facts, a list and a tensor."""

    def __init__(self, first: Iterable[tuple[int, str, Value]]) -> None:
        self.heap = heap()
        self.names: dict[Any, Value] = {}
        self.facts = FactSlots()
        self.list = ListValue((1, 2))
        self.tensor = Tensor(TensorSpec((2, 3)))
        self.write(first)

    def write(self, steps: Iterable[tuple[int, str, Value]]) -> None:
        for place, name, value in steps:
            if place == 0:
                self.heap.set(self.names, name, value)
            elif place == 1:
                self.heap.set(self.facts, name, kind_of(value))
            elif place == 2:
                self.heap.set(self.list.slots, "items", (value, value))
            else:
                spec = value.spec if isinstance(value, Tensor) else TensorSpec(None)
                self.heap.set(self.tensor.slots, "spec", spec)

    def snapshot(self) -> tuple[Any, ...]:
        return dict(self.names), dict(self.facts), self.list.elements, self.tensor.spec

    def branch(self, steps: Iterable[tuple[int, str, Value]]) -> tuple[Any, tuple[Any, ...]]:
        mark = self.heap.mark()
        self.write(steps)
        seen = self.snapshot()
        return self.heap.rollback(mark), seen


def covers_state(whole: tuple[Any, ...], part: tuple[Any, ...]) -> bool:
    return (
        all(covers(whole[0].get(name, MISSING), value, {}) for name, value in part[0].items() if name in whole[0])
        and part[0].keys() <= whole[0].keys()
        and whole[1].items() <= part[1].items()
        and covers_elements(whole[2], part[2], {})
        and covers_spec(whole[3], part[3], {})
    )


@LAW
@given(writes, st.lists(writes, min_size=2, max_size=3))
def test_a_joined_state_covers_each_branch(first: Any, branches: list[Any]) -> None:
    state = State(first)
    before = state.snapshot()
    made = [state.branch(steps) for steps in branches]
    after = state.snapshot()
    assert after[0].keys() == before[0].keys() and all(after[0][name] is before[0][name] for name in after[0])
    assert after[1:] == before[1:]
    state.heap.join([delta for delta, _ in made])
    joined = state.snapshot()
    for _, seen in made:
        assert covers_state(joined, seen)
    agreed = set(made[0][1][1].items()).intersection(*(seen[1].items() for _, seen in made))
    assert agreed == set(joined[1].items())


@LAW
@given(writes, writes, writes)
def test_the_order_of_branches_does_not_matter(first: Any, one: Any, other: Any) -> None:
    states = [State(first), State(first)]
    for state, branches in zip(states, ([one, other], [other, one])):
        state.heap.join([state.branch(steps)[0] for steps in branches])
    left, right = (state.snapshot() for state in states)
    assert covers_state(left, right) and covers_state(right, left)


@LAW
@given(writes, writes)
def test_a_branch_that_is_applied_is_what_it_was(first: Any, steps: Any) -> None:
    state = State(first)
    delta, seen = state.branch(steps)
    state.heap.join([delta])
    again = state.snapshot()
    assert again[0].keys() == seen[0].keys() and all(again[0][name] is seen[0][name] for name in seen[0])
    assert again[1:] == seen[1:]


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (0.1, 100, lambda value: isinstance(value, Choice) and set(value.options) == {0.1, 100}),
        (True, 3, lambda value: isinstance(value, Choice) and [type(one) for one in value.options] == [bool, int]),
        (True, False, lambda value: value == Scalar("bool")),
        (0.1, 0.2, lambda value: value == Scalar("float")),
        ("cuda", "cpu", lambda value: isinstance(value, Scalar) and value.type == "str"),
        ("ab", "cd", lambda value: isinstance(value, Scalar) and value.length == 2 and value.words == 1),
        (None, MODULES[0], lambda value: isinstance(value, Choice)),
        (UNKNOWN, 3, lambda value: isinstance(value, Unknown) and value.reason is Reason.JOIN),
    ],
)
def test_joins_by_example(left: Value, right: Value, joined: Callable[[Value], bool]) -> None:
    assert joined(heap().join_values(left, right))


def split(bound: Iterable[tuple[bool, Value]]) -> tuple[Heap, Condition, Value]:
    """What a name is bound to after two branches, by whether a condition holds in them."""
    own, condition = heap(), Condition("truth", (Same(object()),))
    mark, names, deltas = own.mark(), {}, []
    for holds, value in bound:
        own.set(names, "name", value)
        own.set(own.conditions.assumed, condition, holds)
        deltas.append(own.rollback(mark))
    own.join(deltas)
    return own, condition, names["name"]


@LAW
@given(pairs, st.booleans())
def test_a_branch_is_known_again_under_its_condition(pair: tuple[Value, Value], first: bool) -> None:
    own, condition, joined = split(zip((first, not first), pair))
    for holds, value in zip((first, not first), pair):
        own.set(own.conditions.assumed, condition, holds)
        assert covers(own.conditions.under(joined), value, {})


@pytest.mark.parametrize("first", [True, False])
def test_a_device_is_the_accelerator_where_its_condition_holds(first: bool) -> None:
    devices = {first: "cpu", not first: "cuda"}
    own, condition, device = split(devices.items())
    assert device == Device("cuda", symbolic=True, when=Fact(condition, not first))
    for holds, text in devices.items():
        own.set(own.conditions.assumed, condition, holds)
        assert own.conditions.place(device) == Device(text)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_each_planted_mistake_still_changes_a_line(mutant: Mutant) -> None:
    text = (ROOT / "server" / "torchsleuth" / "values" / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.before) == 1 and mutant.before != mutant.after

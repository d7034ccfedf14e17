"""The join of two abstract values: the least value that covers both.

It is commutative, associative and idempotent, up to the names of sizes that are not known, and what both sides say is
true of it: tests/unit/test_values_laws.py holds it to that. Unknown absorbs everything. Values of one kind (numbers,
texts, tensors, lists …) are joined into one of that kind; those of different kinds are a `Choice`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

from torchsleuth.sifting import all_are, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import Device, parse
from torchsleuth.tensors.dims import Dim, Size, Symbol
from torchsleuth.tensors.spec import Native, TensorSpec
from torchsleuth.values import (
    OTHERS,
    UNKNOWN,
    Array,
    Bound,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Instance,
    Kin,
    LibraryModule,
    LibraryObject,
    ListValue,
    Maybe,
    NamedResult,
    Numbers,
    Partial,
    Reason,
    Scalar,
    Several,
    Sizes,
    Tensor,
    Trained,
    Unknown,
    Value,
    View,
    Wrapped,
    entry,
    is_module,
    unwrapped,
)
from torchsleuth.values.conditions import Condition, Conditions, Fact
from torchsleuth.values.graph import Cut

MISSING: Any = object()
"""The value of a name that is not bound. It covers nothing: using it would have failed."""
MAX_NESTED = 3
"""Objects that stand for others inside of such objects."""
MAX_KINDS = 4
"""Different elements that stand for those of a list of unknown length; beyond that they are joined into one."""

_OBJECTS = (
    Tensor,
    Array,
    ListValue,
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    Function,
    ClassValue,
    Bound,
    Native,
    Partial,
)
_PLAIN = (tuple, str, bool, int, float, Scalar, Dim, type(None))
_REMEMBER = (Unknown, Scalar, Choice, Tensor, Array, ListValue, DictValue, Device)
"""Kinds of values that remember which two they were joined from."""
_ACCELERATORS = ("cuda", "mps", "xpu")


def options(value: Value) -> tuple[Value, ...]:
    """The values that one may be."""
    return value.options if isinstance(value, Choice) else (value,)


Kind = tuple[Any, ...] | None
_SCALARS: dict[str, Kind] = {name: (name,) for name in ("bool", "str", "float")}
_KINDS: dict[type, Callable[[Any], Kind]] = {
    Tensor: lambda value: ("tensor",),
    Array: lambda value: ("array",),
    ListValue: lambda value: ("list", value.type_name),
    DictValue: lambda value: ("dict", value.type_name, id(value.factory)),
    tuple: lambda value: ("tuple", len(value)),
    Scalar: lambda value: _SCALARS.get(value.type),
    **dict.fromkeys((int, Dim), lambda value: ("int",)),
    type(None): lambda value: ("None",),
    bool: lambda value: ("bool",),
    str: lambda value: ("str",),
    float: lambda value: ("float",),
    object: lambda value: None,
}


def kind_of(value: Value) -> Kind:
    """Values of one kind are joined into one; None for objects, of which each is itself."""
    cls = type(value)
    kind = _KINDS.get(cls)
    if kind is None:
        kind = _KINDS[cls] = next(_KINDS[base] for base in cls.__mro__ if base in _KINDS)
    return kind(value)


def text_sizes(text: str | Scalar) -> tuple[Size | None, Size | None]:
    """How many characters and words a text has."""
    return (len(text), len(text.split())) if isinstance(text, str) else (text.length, text.words)


def join_texts(left: str | Scalar, right: str | Scalar) -> Value:
    """One of two texts: what they have in common are the numbers of their characters and words."""
    if isinstance(left, str) and left == right:
        return left
    length, words = (a if a == b else None for a, b in zip(text_sizes(left), text_sizes(right)))
    return Scalar("str", length=length, words=words)


def same_constant(left: Value, right: Value) -> bool:
    """Whether two constants are the same: zeros of different signs are not, and one that is not a number is."""
    return type(left) is type(right) and (repr(left) == repr(right) if isinstance(left, float) else left == right)


def join_floats(left: float | Scalar, right: float | Scalar) -> Value:
    """One of two floats: where one of them left the autograd graph is worth knowing."""
    if isinstance(left, float) and same_constant(left, right):
        return left
    return Scalar("float", next((side.cut for side in of_kind((left, right), Scalar) if side.cut), None))


def alike(left: Value, right: Value) -> bool:
    """Whether one of two elements can stand for both."""
    match left:
        case Tensor() if isinstance(right, Tensor):
            if left.parameter and left.spec.requires_grad is not False:
                return left is right  # What an optimizer is given are these, and no others.
            same = left.spec == right.spec and left.tags == right.tags and left.history == right.history
            return same and left.slots["node"] is right.slots["node"] and left.slots["cut"] is right.slots["cut"]
        case tuple() if isinstance(right, tuple):
            return len(left) == len(right) and all(alike(a, b) for a, b in zip(left, right))
    return left is right or (isinstance(left, bool | int | float | str) and same_constant(left, right))


def _distinct(elements: Sequence[Value]) -> list[Value]:
    """These elements without most of those that an earlier one can stand for: the lists that a training loop fills are long,
    and what is in them is much alike."""
    kept: list[Value] = []
    for element in elements:
        if not any(alike(element, other) for other in kept[:MAX_KINDS]):
            kept.append(element)
    return kept


def renewed(value: Value) -> Value:
    """Another value of which the same is known: the next of those that one stands for."""
    match value:
        case Unknown():
            return Unknown(value.reason, value.node, value.frame, value.cause)
        case Scalar():
            return replace(value)
        case Choice():
            return Choice(value.options)
    return tuple(map(renewed, value)) if type(value) is tuple else value


class Joins(ABC):
    """The join, and what it needs to know: which sizes it has made so far, and the condition that decides which of the two
    sides there is."""

    def __init__(self, fresh: Callable[[str, bool], Symbol]) -> None:
        self._fresh = fresh
        self._sizes: dict[tuple[int, Size, Size], Size] = {}
        self._joined = 0
        self._coin = False
        self._condition: Condition | None = None
        self._standing: dict[frozenset[int], Instance] = {}
        self._branches = False
        self.ranges: dict[Symbol, tuple[int, int]] = {}
        """Bounds of symbols that stand for integers of which nothing else is known."""
        self.conditions = Conditions()

    def join_values(self, left: Value, right: Value) -> Value:
        """The least value that covers both. A missing name covers nothing: using it would have failed."""
        if left is right or left is MISSING:
            return right
        if right is MISSING:
            return left
        if Wrapped in (
            type(left),
            type(right),
        ):  # Of a module that may be wrapped, both are seen: its own and ``module``.
            return self.join_values(unwrapped(left), unwrapped(right))
        joined = self._least(left, right)
        if isinstance(joined, Unknown) and joined.cause is None:
            joined = Unknown(Reason.JOIN)
        of_two = joined is not left and joined is not right and isinstance(joined, _REMEMBER)
        if self._condition is not None and of_two:
            self.conditions.split(joined, self._condition, left, right)
        return joined

    def join_all(self, values: Sequence[Value]) -> Value:
        """The least value that covers all of these; MISSING if there are none."""
        one = self._any_instance(values) or self._any_object(values)
        if one is not None:
            return one
        outer = self._sizes, self._joined, self._condition
        self._sizes, self._condition = {}, None
        joined: Value = MISSING
        for self._joined, value in enumerate(values):
            joined = self.join_values(joined, value)
        self._sizes, self._joined, self._condition = outer
        return joined

    # -- objects of which any may be meant ---------------------------------------------------------------

    def _any_instance(self, values: Sequence[Value]) -> Instance | None:
        """An instance that stands for one of these, where they are too many to be told apart, or stand for one of several
        themselves, and are alike: what is read of it is the join of what they have."""
        if not values or not all_are(values, Instance):
            return None
        given = of_kind(values, Instance)
        members = list({id(one): one for value in given for one in value.may_be or (value,)}.values())
        if not _are_alike(members) or not (len(members) > MAX_KINDS or any(value.may_be for value in given)):
            return None
        key = frozenset(map(id, members))
        if key in self._standing or len(self._standing) > MAX_NESTED:
            return self._standing.get(key)
        made = self._standing[key] = Instance(members[0].cls)
        made.site, made.state = members[0].site, dict(members[0].state)
        kin = made.slots.kin = self._related(members)
        kin.anyone.append(made)
        try:
            for name in members[0].slots:
                held = [one.slots[name] for one in members]
                made.slots[name] = self.join_all(held)
                if isinstance(made.slots[name], Unknown) and not any(map(is_module, held)):
                    # What is done to it changes what one of them has.
                    for one in members:
                        self.set(one.slots, name, UNKNOWN)
        finally:
            del self._standing[key]
        return made

    def _any_object(self, values: Sequence[Value]) -> LibraryObject | LibraryModule | None:
        """A data set, loader or loss that stands for one of these, where they are too many to be told apart, and made alike:
        nothing that is done to one of them changes what is known of it."""
        if len(values) <= MAX_KINDS or not all_are(values, LibraryObject, LibraryModule):
            return None
        given = list({id(one): one for one in of_kind(values, LibraryObject, LibraryModule)}.values())
        first = given[0]
        if len(given) <= MAX_KINDS or not _is_constant(first) or not all(_made_alike(first, one) for one in given):
            return None
        args = tuple(map(self.join_all, zip(*(one.args for one in given))))
        kwargs = {name: self.join_all([one.kwargs[name] for one in given]) for name in first.kwargs}
        return type(first)(first.path, args, kwargs, first.site)

    @abstractmethod
    def set(self, slots: Any, key: Any, value: Value) -> None:
        """Write to a slot."""

    @staticmethod
    def _related(members: list[Instance]) -> Kin:
        """The kin of these instances, together with that which one of them has had before."""
        before = {id(one.slots.kin): one.slots.kin for one in members if one.slots.kin is not None}
        if len(before) == 1 and all(one.slots.kin is not None for one in members):
            return next(iter(before.values()))
        everyone = [*members, *(one for kin in before.values() for one in kin.members)]
        related = Kin(list({id(one): one for one in everyone}.values()))
        related.anyone = [one for kin in before.values() for one in kin.anyone]
        for one in (*related.members, *related.anyone):
            one.slots.kin = related
        return related

    def _least(self, left: Value, right: Value) -> Value:
        for side in of_kind((left, right), Unknown):
            return Unknown(Reason.JOIN, cause=side)
        join = _PARTS.get(type(left))
        if join is not None and type(left) is type(right):
            return join(self, left, right)
        if isinstance(left, str | Device) and isinstance(right, str | Device) and self._condition is not None:
            device = self._join_devices(left, right)
            if device is not None:
                return device
        kind = kind_of(left)
        if kind is not None and kind == kind_of(right):
            return _OF_ONE_KIND[kind[0]](self, left, right)
        if kind is None and not isinstance(left, Choice) and type(left) is type(right) and _equal(left, right):
            return left
        return self._choice(left, right)

    def _join_tuples(self, left: tuple[Value, ...], right: tuple[Value, ...]) -> tuple[Value, ...]:
        items = tuple(self.join_values(a, b) for a, b in zip(left, right))
        if isinstance(left, NamedResult) and left.alike(right):
            return NamedResult(left.fields, items, left.of)
        if isinstance(left, NamedResult) and isinstance(right, NamedResult) and left.fields == right.fields:
            return NamedResult(left.fields, items)  # of two classes with the same names
        return Sizes(items) if isinstance(left, Sizes) and isinstance(right, Sizes) else items

    def _choice(self, left: Value, right: Value) -> Value:
        """One of two values of different kinds."""
        kept: list[Value] = []
        for value in (*options(left), *options(right)):
            for index, other in enumerate(kept):
                kind = kind_of(value)
                if other is value:
                    break
                if kind is not None and kind == kind_of(other):
                    kept[index] = self.join_values(other, value)
                    break
            else:
                kept.append(value)
        if len(kept) == 1:
            return kept[0]
        chosen = len(kept) <= MAX_KINDS and all(isinstance(value, _OBJECTS + _PLAIN) for value in kept)
        return Choice(tuple(kept)) if chosen else UNKNOWN

    # -- numbers and devices -------------------------------------------------------------------------

    def join_sizes(self, left: Size, right: Size) -> Size:
        """A size that is `left` in the one state and `right` in the other: the same one wherever that is so."""
        if left == right:
            return left
        key = (self._joined, left, right)
        if key not in self._sizes:
            positive = all(0 < (dims.least(size) or 0) for size in (left, right))
            symbol = self._fresh("?", positive)
            self._sizes[key] = dims.of(symbol)
            one, other = self.bounds(left), self.bounds(right)
            # A loop may count any number further than it has been followed.
            if one and other and (self._branches or one == other):
                self.ranges[symbol] = min(one[0], other[0]), max(one[1], other[1])
            if self._condition is not None:
                self.conditions.split_size(symbol, self._condition, left, right)
        return self._sizes[key]

    def bounds(self, size: Size) -> tuple[int, int] | None:
        """Between which integers one lies, both included."""
        if isinstance(size, int):
            return size, size
        return self.ranges.get(size.symbols[0]) if size == dims.of(size.symbols[0]) else None

    def _join_devices(self, left: str | Device, right: str | Device) -> Device | None:
        """``"cuda"`` or ``"cpu"`` is the accelerator where the condition says so."""
        pair = [parse(side) if isinstance(side, str) else side for side in (left, right)]
        kinds = [device.kind for device in pair]
        kind = next((kind for kind in _ACCELERATORS if kind in kinds), None)
        symbolic = any(device.symbolic for device in pair)
        if kind is None or not {*kinds} <= {kind, "cpu"} or not ("cpu" in kinds or symbolic):
            return None
        if symbolic or self._condition is None:
            indexed = any(device.index is not None for device in pair)
            return None if indexed else Device(kind, symbolic=True)
        return Device(kind, symbolic=True, when=Fact(self._condition, kinds[0] == kind))

    # -- tensors and arrays ----------------------------------------------------------------------------

    def join_specs(self, left: TensorSpec, right: TensorSpec) -> TensorSpec:
        """The properties that both have."""
        if left == right:
            return left
        shape = None
        if left.shape is not None and right.shape is not None and len(left.shape) == len(right.shape):
            shape = tuple(self.join_sizes(a, b) for a, b in zip(left.shape, right.shape))
        device = left.device if left.device == right.device else None
        if device is None and left.device is not None and right.device is not None:
            device = self._join_devices(left.device, right.device)
        return TensorSpec(
            shape,
            left.dtype if left.dtype == right.dtype else None,
            device,
            left.requires_grad if left.requires_grad == right.requires_grad else None,
            left.strides if left.strides == right.strides and shape == left.shape else None,
        )

    def _join_tensors(self, left: Tensor, right: Tensor) -> Tensor:
        if alike(left, right):
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

    def _join_arrays(self, left: Array, right: Array) -> Array:
        bounds = left.slots["bounds"]
        joined = Array(
            self.join_specs(left.spec, right.spec),
            bounds if bounds is not None and bounds == right.slots["bounds"] else None,
        )
        joined.slots["ends"] = left.slots["ends"] if left.slots["ends"] == right.slots["ends"] else None
        joined.slots["spread"] = left.slots["spread"] if left.slots["spread"] == right.slots["spread"] else None
        joined.slots["number"] = left.slots["number"] if left.slots["number"] == right.slots["number"] else None
        joined.slots["cut"] = left.slots["cut"] or right.slots["cut"]
        joined.slots["content"] = self._join_views(left.slots["content"], right.slots["content"])
        backwards = left.slots["mirrored"], right.slots["mirrored"]
        if None in backwards or (backwards[0] != backwards[1] and not self._coin):
            joined.slots["mirrored"] = None
        else:
            joined.slots["mirrored"] = backwards[0] | backwards[1]
        return joined

    @staticmethod
    def _join_views(left: View | None, right: View | None) -> View | None:
        """The memory of an array that is one of two: it may be written to, whichever it is."""
        known = of_kind((left, right), View)
        return left if left is right else known[0].joined(known[-1]) if known else None

    # -- containers ------------------------------------------------------------------------------------

    def _join_lists(self, left: ListValue, right: ListValue) -> ListValue:
        either = ListValue(self.join_elements(left.elements, right.elements), left.type_name)
        either.slots.stand_for(left.slots, right.slots)
        return either

    def _join_dicts(self, left: DictValue, right: DictValue) -> DictValue:
        either = left.holding(self.join_entries(left.entries, right.entries))
        either.from_file = left.from_file and right.from_file
        either.slots.stand_for(left.slots, right.slots)
        return either

    def _join_attributes(self, left: dict[Any, Value], right: dict[Any, Value]) -> dict[Any, Value]:
        """The attributes that were set on a module in the one case and in the other."""
        both = left.keys() & right.keys()
        keys = {**left, **right}
        return {key: self.join_values(left[key], right[key]) if key in both else UNKNOWN for key in keys}

    def join_elements(self, left: Value, right: Value) -> tuple[Value, ...] | None:
        """The elements of a list that is one of two."""
        if not isinstance(left, tuple) or not isinstance(right, tuple):
            return None
        open_ended = isinstance(left, Several) or isinstance(right, Several)
        if len(left) == len(right) and not open_ended:
            return tuple(self.join_values(a, b) for a, b in zip(left, right))
        length = None
        if isinstance(left, Several) and isinstance(right, Several) and left.length == right.length:
            length = left.length
        return Several.counted((self.join_all(_distinct((*left, *right))),) if left or right else (), length)

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


def as_it_is(value: Value, changed: Set[int]) -> Value:
    """A value with copies of its lists and dictionaries whose slots are in `changed`, by identity: what is undone leaves
    them as they are now."""
    if isinstance(value, Several):
        return Several.counted(tuple(as_it_is(item, changed) for item in value), value.length)
    if type(value) is tuple:
        return tuple(as_it_is(item, changed) for item in value)
    if isinstance(value, Maybe):
        return Maybe(as_it_is(value.value, changed))
    if not isinstance(value, ListValue | DictValue) or id(value.slots) not in changed:
        return value
    made: ListValue | DictValue
    if isinstance(value, ListValue):
        made = ListValue(None, value.type_name)
        made.slots["items"] = as_it_is(value.elements, changed)
    else:
        entries = value.entries
        made = value.holding(None)
        made.slots["items"] = entries and {key: as_it_is(item, changed) for key, item in entries.items()}
    return made


def _are_alike(instances: list[Instance]) -> bool:
    """Whether instances are of one class of the user's, and have the same attributes: no modules, nor what a library is
    behind."""
    first = instances[0]
    return (
        not first.is_module
        and first.cls.members is None
        and all(one.cls is first.cls and one.native is None for one in instances)
        and all(one.slots.keys() == first.slots.keys() for one in instances)
        and all_are(first.slots, str)
        and not any(one.state.get("open") for one in instances)
    )


def _is_constant(made: LibraryObject | LibraryModule) -> bool:
    """Whether an object of a library is as it was made, and stays so: a data set, a loader or a loss."""
    if isinstance(made, LibraryObject):
        return made.path.startswith("torch.utils.data.") and not made.slots and not made.iterates
    return made.path.startswith("torch.nn.") and made.path.endswith("Loss") and not made.slots["attributes"]


def _made_alike(one: LibraryObject | LibraryModule, other: LibraryObject | LibraryModule) -> bool:
    """Whether two such objects are of one class, and were given as many arguments at one place."""
    return (
        one.path == other.path
        and one.site is not None
        and other.site is not None
        and one.site.span == other.site.span
        and _is_constant(other)
        and len(one.args) == len(other.args)
        and one.kwargs.keys() == other.kwargs.keys()
    )


def _equal(left: Value, right: Value) -> bool:
    try:
        return bool(left == right)
    except Exception:
        return False


_OF_ONE_KIND: dict[str, Callable[[Joins, Any, Any], Value]] = {
    "tuple": Joins._join_tuples,
    "list": Joins._join_lists,
    "dict": Joins._join_dicts,
    "tensor": Joins._join_tensors,
    "array": Joins._join_arrays,
    "int": Joins.join_sizes,
    "float": lambda joins, left, right: join_floats(left, right),
    "str": lambda joins, left, right: join_texts(left, right),
    "bool": lambda joins, left, right: left if left is right else Scalar("bool"),
    "None": lambda joins, left, right: None,
}
_PARTS: dict[type, Callable[[Joins, Any, Any], Value]] = {
    Tensor: Joins._join_tensors,
    Array: Joins._join_arrays,
    TensorSpec: Joins.join_specs,
    Cut: lambda joins, left, right: left,
    Numbers: lambda joins, left, right: left if left == right else None,
    View: lambda joins, left, right: left.joined(right),
    Trained: lambda joins, left, right: left.joined(right),
    frozenset: lambda joins, left, right: left & right,
    dict: Joins._join_attributes,
}
"""Of values that are of one kind whenever they are of one class."""

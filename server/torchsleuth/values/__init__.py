"""Abstract values. Plain Python constants and tuples stand for themselves; everything else is here.

A `Ref` is an object with identity; its mutable state lives in `slots`, written only through the `Heap`,
so that branches can be undone and joined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from torchsleuth.sifting import all_are, any_are, as_kind, first_of, of_kind
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.tensors.dims import Dim, Size, is_number
from torchsleuth.tensors.spec import ModuleSpec, Native, RecordClass, TensorSpec
from torchsleuth.values.identity import new_identity as new_identity
from torchsleuth.values.names import Names as Names
from torchsleuth.values.sites import Site as Site
from torchsleuth.values.unknown import UNKNOWN as UNKNOWN
from torchsleuth.values.unknown import Reason as Reason
from torchsleuth.values.unknown import Unknown as Unknown
from torchsleuth.values.unknown import is_unknown as is_unknown
from torchsleuth.values.unknown import owners as owners

Value = object
"""Constants and tuples of Python, tensor specs and the like are values, too: each stands for itself."""
Slots = dict[Any, Any]
Tags = frozenset[Any]
"""Properties of the values of a tensor that survive its reshaping: words such as "softmax", and `Bounds`."""


@dataclass(frozen=True)
class Scalar:
    """An unknown Python scalar of a known type: float, bool or str. Unknown ints are symbolic sizes.

    `cut`: where it left the autograd graph (see interp/autograd.py), for one that was computed with gradients.
    `length`, `words`: how many characters a text has, and how many words ``split()`` finds in it, where they are sizes.
    `kind_of`: the device whose kind a text names. `made_of`: the parts that a text was put together of, one after the other.
    `ratio`: a float that is one size by another one.
    """

    type: str
    cut: Any = field(default=None, compare=False)
    length: Size | None = field(default=None, compare=False)
    words: Size | None = field(default=None, compare=False)
    kind_of: Device | None = field(default=None, compare=False)
    made_of: tuple[Any, ...] = field(default=(), compare=False)
    ratio: tuple[Size, Size] | None = None


@dataclass(frozen=True)
class Availability:
    """The answer of ``torch.cuda.is_available()``: true on some machines. `kind`: cuda, mps …"""

    kind: str


@dataclass(frozen=True)
class SliceValue:
    start: Value
    stop: Value
    step: Value


class AnyIndex(int):
    """An index that stands for all that there are: that of a sample, or one that is not known."""


@dataclass(frozen=True)
class Bounds:
    """The lowest and the highest of the integers that a tensor holds: a tag, like "softmax". `anywhere`: each element can
    be either of them, so that it is true of any part of the tensor. `whole`: every integer between them occurs, too.
    `rising`: they stand in order along the only axis that is longer than 1."""

    low: int
    high: int
    anywhere: bool = False
    whole: bool = False
    rising: bool = False


@dataclass(frozen=True)
class Ends:
    """Integers that a tensor holds for certain, whatever else is in it: a tag. `behind`: behind the elements of sequences of
    different lengths, so that they are in what is left of these without the first or the last element, too."""

    low: int
    high: int
    behind: bool = False


@dataclass(frozen=True)
class Within:
    """Two integers between which all of those lie that a tensor holds, and it is not known which of them occur: a tag."""

    low: int
    high: int


@dataclass(frozen=True)
class PaddedSteps:
    """Sequences of different lengths, filled up with zeros to the longest of them: a tag. `axis`: that of the steps, as long as it has
    `steps` of them and the other one `batch`."""

    axis: int
    steps: Size
    batch: Size


@dataclass(frozen=True)
class Lengths:
    """The sizes that a tensor holds, such as the lengths of the sequences of a batch: a tag."""

    sizes: frozenset[Size]


@dataclass(frozen=True)
class Reals:
    """Real numbers that each element of a tensor is drawn from, whatever the others are: any between the two may come up: a
    tag. `only`: no others do, and not the upper one."""

    low: float
    high: float
    only: bool = True


@dataclass(frozen=True)
class Points:
    """The least and the greatest of the real numbers that a tensor holds: a tag."""

    low: float
    high: float


UNSORTED = "unsorted"
"""A tag: integers one after the other as they were drawn or written, some of them greater than the one in front."""
SHARES = "shares"
"""A tag: values from 0 to 1 that were bytes, such as those of an image behind ToTensor."""


@dataclass(frozen=True)
class Element:
    """Which element of which tensor or array one is: a tag of it, or the slot `element`."""

    container: int | Element
    index: int


@dataclass(frozen=True, eq=False)
class Choice:
    """One of a few values of different kinds, such as None or a tensor; which one is not known."""

    options: tuple[Value, ...]


class NamedResult(tuple[Any, ...]):
    """A tuple whose items also have names, such as the result of ``x.max(dim=1)``. `of`: its class, for a NamedTuple."""

    fields: tuple[str, ...]
    of: ClassValue | None

    def __new__(cls, fields: tuple[str, ...], items: tuple[Any, ...], of: ClassValue | None = None) -> NamedResult:
        made = super().__new__(cls, items)
        made.fields = fields
        made.of = of
        return made

    def alike(self, other: Value) -> bool:
        """Whether another tuple has the same names and class."""
        return isinstance(other, NamedResult) and self.fields == other.fields and self.of is other.of


class Sizes(tuple[Any, ...]):
    """The shape of a tensor, a ``torch.Size``."""


def is_tuple(value: Value) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple of Python's own, or a shape; not one with names."""
    return type(value) in (tuple, Sizes)


class OwnSlots(dict[Any, Any]):
    """The slots of an object. `born`: tells what was there before something else was made."""

    def __init__(self, *args: Any, **slots: Any) -> None:
        super().__init__(*args, **slots)
        self.born = new_identity()


class StateSlots(OwnSlots):
    """The state that a kind of object always has: of two states that differ in kind, nothing is known."""


class Ref:
    """An object with identity and journaled slots."""

    def __init__(self, **slots: Any) -> None:
        self.identity = new_identity()
        self.slots: Slots = StateSlots(slots) if slots else OwnSlots()


@dataclass(frozen=True)
class Origin:
    """How a tensor came to be: the expression, the operator, and the tensors it was computed from."""

    site: Site
    operator: str
    inputs: tuple[TensorSpec, ...] = ()
    sources: tuple[Tensor, ...] = ()

    @property
    def name(self) -> str:
        """The last word of its operator: ``cat`` of ``torch.cat``."""
        return self.operator.rpartition(".")[2]

    @property
    def bare_name(self) -> str:
        """Its name without underscores: ``add`` of ``Tensor.add_``."""
        return self.name.strip("_")


class Tensor(Ref):
    """A tensor.

    `origin`: where it was computed. `tags`: properties of its values that survive reshaping, such as
    "softmax". `history`: the forward calls whose graph it carries. Slot `node`: its place in the autograd graph,
    `cut`: where it lost it (see interp/autograd.py). `storage`: its memory, shared by views. `owner`: the library module
    that it was looked up in, `member`: under this name. `argument`: the parameter that it is the value of, in a function that nothing calls. `obscured`: why
    its shape is not known.
    """

    def __init__(
        self,
        spec: TensorSpec,
        origin: Origin | None = None,
        tags: Tags = frozenset(),
        history: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(spec=spec, tags=tags, history=history, node=None, cut=None)
        self.storage = Ref(version=0)
        self.origin = origin
        self.parameter = False
        self.buffer = False
        self.owner: LibraryModule | None = None
        self.member = ""
        self.argument: tuple[str, int, int] | None = None
        self.obscured: Unknown | None = None

    @property
    def spec(self) -> TensorSpec:
        spec: TensorSpec = self.slots["spec"]
        return spec

    @property
    def tags(self) -> Tags:
        tags: Tags = self.slots["tags"]
        return tags

    @property
    def history(self) -> frozenset[int]:
        history: frozenset[int] = self.slots["history"]
        return history

    def is_one_with(self, other: Tensor) -> bool:
        """Whether another one is this tensor, or comes from the same call."""
        return self is other or (self.origin is not None and self.origin is other.origin)

    def copy(self) -> Tensor:
        """Another tensor, of which the same is known."""
        return Tensor(self.spec, self.origin, self.tags, self.history)


@dataclass(frozen=True, eq=False)
class Shape:
    """The shape of a tensor whose rank is not known yet."""

    tensor: Tensor


@dataclass(frozen=True)
class Numbered:
    """The categories of a column, numbered in the order of their values: a tag of what holds these numbers. `source`: the table that
    the categories are of; `site`: where they were numbered."""

    column: str
    source: Any
    site: Site | None = field(default=None, compare=False)


@dataclass(frozen=True)
class MixedColumn:
    """A column of a table that makes an array of objects of it: its name, its dtype, and the call that made it where that is known."""

    name: str
    dtype: str
    site: Site | None = field(default=None, compare=False)


class Array(Ref):
    """A NumPy array or scalar: its shape and dtype, as in a tensor's spec; None where not known. Slot `cut`: where its
    values left the autograd graph, `bounds`: the integers it holds, `mirrored`: the dimensions of a view that go through
    their memory backwards, None where that is not known, `ends`: integers that it holds for certain, whatever else it holds, `number`: the one that
    a scalar is, `count`: how many elements of a mask are true, once something has asked, `spread`: the lowest and the highest of its
    integers, of the whole array alone, `content`: what it sees of its memory, None where that is not followed, `mixed`: of one of objects,
    the column of a table for which it is, `numbered`: the `Numbered` that it holds, `source`: the table that a column is of,
    `drawn`: the column of which it is a sample,
    `words`: it holds text that is read from a file as text again.
    """

    def __init__(self, spec: TensorSpec, bounds: Bounds | None = None) -> None:
        super().__init__(
            spec=spec, cut=None, bounds=bounds, mirrored=frozenset(), ends=None, number=None, count=None, spread=None
        )
        self.slots["content"] = None

    @property
    def spec(self) -> TensorSpec:
        spec: TensorSpec = self.slots["spec"]
        return spec


class Memory(Ref):
    """The memory of arrays of NumPy that share it. Slot `numbers`: what it holds, None where that is not known."""

    def __init__(self, numbers: Numbers | None) -> None:
        super().__init__(numbers=numbers)


@dataclass(frozen=True)
class Numbers:
    """The content of a memory: bytes, and NumPy's name of their dtype."""

    dtype: str
    data: bytes


@dataclass(frozen=True, eq=False)
class View:
    """The part of a memory that an array sees. `places`: of each element the place in it, as an array of NumPy's; None where
    that is not known, and the array may see any of the memories. `is_part`: it is a view of another array."""

    memories: tuple[Memory, ...]
    places: Any = None
    is_part: bool = False

    def joined(self, other: View) -> View:
        return View(tuple({id(one): one for one in (*self.memories, *other.memories)}.values()))


@dataclass(frozen=True)
class Image:
    """A PIL image. `channels`, `height`, `width`: None where not known."""

    channels: int | None = None
    height: Size | None = None
    width: Size | None = None


class Several(tuple[Any, ...]):
    """Elements that stand for those of a list whose number is not known. `length`: that number, where it is a size of its
    own, such as one that is drawn."""

    length: Size | None = None

    @classmethod
    def counted(cls, elements: tuple[Any, ...], length: Size | None) -> Several:
        made = cls(elements)
        made.length = length
        return made


@dataclass(frozen=True)
class Trained:
    """The parameters an optimizer was given (`Parameters` and tensors, UNKNOWN for what is not known), and the library modules and
    tensors that hold these parameters, as far as they are known."""

    given: tuple[Value, ...]
    parts: tuple[Value, ...]

    def joined(self, other: Trained) -> Trained:
        """The join of what two were given: something unknown, too, where they differ."""
        if self == other:
            return self
        gathered = [
            (*one, *(part for part in two if not any(part is own for own in one)))
            for one, two in ((self.given, other.given), (self.parts, other.parts))
        ]
        return Trained((*gathered[0], UNKNOWN), gathered[1])


class FactSlots(dict[Any, Value]):
    """Facts that were found out: where two states differ, neither is true of both."""


class ContainerSlots(OwnSlots):
    """The slots of a list or dict. `stands_for`: those of the containers of which this is one. `stood_for_by`: those of the
    containers that are this one, or another."""

    stands_for: tuple[ContainerSlots, ...] = ()
    stood_for_by: tuple[ContainerSlots, ...] = ()

    def stand_for(self, *members: ContainerSlots) -> None:
        self.stands_for = members
        for member in members:
            member.stood_for_by = (*member.stood_for_by, self)


class ListSlots(ContainerSlots):
    """The slots of a list: ``items`` is a tuple of all its elements, a `Several`, or None."""


class ListValue(Ref):
    """A list, set or deque.

    `items`: all the elements, None where their number is not known. `elements`: those, or some that stand for them;
    None where nothing is known of them. `once`, `made`: of an iterator, as of `Parameters`.
    """

    def __init__(self, items: tuple[Value, ...] | None, type_name: str = "list") -> None:
        super().__init__()
        self.slots: ListSlots = ListSlots(items=items)
        self.type_name = type_name
        self.once: Ref | None = None
        self.made: Site | None = None
        self.reads: tuple[tuple[Slots, str, Value], ...] = ()
        """Of an iterator: the slots that it reads as it goes, with what they were when it was made."""

    @property
    def items(self) -> tuple[Value, ...] | None:
        items = self.elements
        return None if isinstance(items, Several) else items

    @property
    def elements(self) -> tuple[Value, ...] | None:
        items = self.slots["items"]
        return as_kind(items, tuple) if self.is_current else self.anew()

    @property
    def is_current(self) -> bool:
        """Whether what it reads is what it was."""
        return not self.reads or all(slots.get(name) is held for slots, name, held in self.reads)

    def anew(self) -> tuple[Value, ...] | None:
        """The elements, now that something has changed that it reads: they are not known."""
        return None


def of_range(numbers: range) -> ListValue:
    """A range whose bounds are known."""
    made = ListValue(tuple(numbers), "range")
    made.slots["bounds"] = {"start": numbers.start, "stop": numbers.stop, "step": numbers.step}
    return made


def items_of(value: Value) -> tuple[Any, ...] | None:
    """The items of a list or tuple: None where their number is not known, and for all other values."""
    return value.items if isinstance(value, ListValue) else as_kind(value, tuple)


def shape_of(value: Value) -> tuple[Size, ...] | None:
    """The shape of a tensor: None where it is not known, and for all other values."""
    return value.spec.shape if isinstance(value, Tensor) else None


def origin_of(value: Value) -> Origin | None:
    """Where a tensor was computed: None where that is not known, and for all other values."""
    return value.origin if isinstance(value, Tensor) else None


def opened(value: Value) -> Value:
    """A list as the tuple of its items, None where these are not known; everything else as it is."""
    return value.items if isinstance(value, ListValue) else value


def elements_of(value: Value) -> tuple[Any, ...] | None:
    """The items of a list or tuple, or some that stand for them: None where nothing is known of them, and for all other values."""
    return value.elements if isinstance(value, ListValue) else as_kind(value, tuple)


@dataclass(frozen=True, eq=False)
class Maybe:
    """The value of an entry that a dict may lack."""

    value: Value


def entry(value: Value) -> Value:
    """The value of an entry, whether it is there for certain or not."""
    return value.value if isinstance(value, Maybe) else value


class _Others:
    """The key of all those entries of a dict whose keys are not known: a pair that stands for them."""

    def __repr__(self) -> str:
        return "OTHERS"


OTHERS = _Others()


Entries = dict[Any, Any]
"""Values by their known keys, some of which may be `Maybe`, and a pair of a key and a value under `OTHERS`."""


class DictSlots(ContainerSlots):
    """The slots of a dict: ``items`` has its entries, or None."""


class DictValue(Ref):
    """A dict, defaultdict, OrderedDict or Counter. The dict in the slot is never mutated.

    `items`: all entries by their known keys, None where they are not all known. `entries`: those, some of which may be
    `Maybe`, and a pair of key and value under `OTHERS`; None where nothing is known. `factory`: what makes missing ones.
    `from_file`: torch.load has given it.
    """

    _whole: Entries | None = None
    """The entries that were last found to be all known."""

    def __init__(self, items: dict[Any, Value] | None, type_name: str = "dict", factory: Value = None) -> None:
        super().__init__()
        self.slots: DictSlots = DictSlots(items=items)
        self.type_name = type_name
        self.factory = factory
        self.from_file = False

    @property
    def items(self) -> dict[Any, Value] | None:
        entries = self.entries
        if entries is self._whole:
            return entries
        if entries is None or OTHERS in entries or any_are(entries.values(), Maybe):
            return None
        self._whole = entries
        return entries

    @property
    def entries(self) -> Entries | None:
        items = self.slots["items"]
        return as_kind(items, dict)

    @property
    def elements(self) -> tuple[Value, ...]:
        """The values that are known."""
        entries = dict(self.entries or {})
        others = entries.pop(OTHERS, None)
        return (*map(entry, entries.values()), *(() if others is None else others[1:]))

    @property
    def is_counter(self) -> bool:
        return self.type_name == "Counter"

    def holding(self, entries: Entries | None) -> DictValue:
        """Another of its kind, with these entries."""
        return DictValue(entries, self.type_name, self.factory)


class Record(DictValue):
    """A dict whose entries are attributes as well and, by their positions, items: what models of transformers return."""

    def __init__(self, items: Entries | None, of: RecordClass) -> None:
        super().__init__(items, of.name)
        self.of = of

    def holding(self, entries: Entries | None) -> Record:
        return Record(entries, self.of)

    def has(self, name: str) -> bool | None:
        """Whether it has an attribute, None where that is not known."""
        entries = self.items
        if name in self.of.declared or name in self.of.attributes or name in (entries or ()):
            return True
        return None if entries is None or not self.of.declared else False


class DictView(ListValue):
    """The keys, values or pairs of a dict, as they are whenever one looks. `parts`: makes them of the dict."""

    def __init__(self, of: DictValue, part: str, parts: Callable[[DictValue, str], tuple[Value, ...] | None]) -> None:
        super().__init__(parts(of, part), f"dict_{part}")
        self.of = of
        self.part = part
        self._parts = parts
        self.reads = ((of.slots, "items", of.slots["items"]),)

    def anew(self) -> tuple[Value, ...] | None:
        return self._parts(self.of, self.part)


class AttributesView(DictValue):
    """The attributes of an object as ``vars(owner)`` shows them: as they are whenever one looks."""

    def __init__(self, owner: Ref) -> None:
        super().__init__({})
        self.owner = owner
        self._first = self.slots["items"]

    @property
    def entries(self) -> Entries | None:
        # What is written to it is not followed.
        unchanged = self.slots["items"] is self._first
        names = {name: value for name, value in self.owner.slots.items() if isinstance(name, str)}
        return names if unchanged else None


class Proxy(DictValue):
    """A dict that cannot be changed, and shows another one as that is: ``types.MappingProxyType(of)``."""

    def __init__(self, of: DictValue) -> None:
        super().__init__({}, "mappingproxy")
        self.of = of

    @property
    def entries(self) -> Entries | None:
        return self.of.entries


class Chained(DictValue):
    """``collections.ChainMap(*maps)``: what is in one of several dicts, the first of which is written to."""

    def __init__(self, maps: tuple[DictValue, ...]) -> None:
        super().__init__({}, "ChainMap")
        self.maps = maps

    @property
    def entries(self) -> Entries | None:
        found: Entries = {}
        for one in reversed(self.maps):
            if one.items is None:
                return None
            found |= one.items
        return found


class ModulesView(AttributesView):
    """The modules among the attributes of one, as ``module._modules`` shows them."""

    @property
    def entries(self) -> Entries | None:
        held = super().entries
        if held is None or any(is_unknown(value) or isinstance(value, Choice) for value in held.values()):
            return None
        return {name: value for name, value in held.items() if is_module(value)}


@dataclass(eq=False)
class Function:
    """A function of the user's."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    path: str
    globals: Slots
    closure: tuple[Slots, ...]
    defaults: tuple[Value, ...]
    keyword_defaults: dict[str, Value]
    owner: ClassValue | None = None
    kind: str = "function"
    grad_mode: Value = None
    autocast: Value = None
    is_generator: bool = False
    setter: Value = None
    """Of a property: what sets it."""
    deleter: Value = None
    """Of a property: what deletes it."""
    memo: Slots | None = None
    """The results that it has given for arguments that are known, where it keeps that: under ``lru_cache``, or as a cached property."""
    most: int | None = None
    """How many results it keeps at most."""
    attributes: Slots = field(default_factory=dict)
    """Attributes that were set on it."""

    @property
    def bound_parameters(self) -> int:
        """How many of the first parameters are the object, or the class, that it is called on: 0 or 1."""
        return 0 if self.owner is None or self.kind == "staticmethod" else 1


class OpenArguments(dict[str, Value]):
    """Keyword arguments that unknown others may follow.

    `defaults`: those not given are the defaults, as for a function that nothing calls; otherwise they are not known, as
    in a call with unknown ``*args`` or ``**kwargs``.
    """

    defaults = True


class PossibleArguments(dict[str, Value]):
    """Keyword arguments of which those in `possible` may be left out: a dictionary may lack them."""

    possible: frozenset[str] = frozenset()


@dataclass(eq=False)
class Bound:
    """A callable of ours bound to its receiver: a user method, or a modelled library method."""

    receiver: Value
    function: Function | str
    owner: ClassValue | None = None


@dataclass(eq=False)
class Builtin:
    """A modelled function."""

    name: str
    call: Callable[..., Value]


@dataclass(eq=False)
class Partial:
    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


@dataclass(eq=False)
class Wrapped:
    """A module inside of a DataParallel or its like: what it has of its own is below ``module``. `path`: of the wrapper's class.

    Only names, containers and objects of the user's hold one: whatever else is given it sees the module.
    """

    inner: AnyModule
    path: str
    site: Site


@dataclass(eq=False)
class Managed:
    """The result of a call of a function under ``contextlib.contextmanager``."""

    function: Function
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


_OF_PYTHON = ("abc.", "typing.", "enum.", "collections.", "dataclasses.", "contextlib.", "threading.", "logging.")


class ClassValue(Ref):
    """A class of the user's. `slots` is its namespace."""

    def __init__(self, name: str, bases: tuple[Value, ...], node: ast.ClassDef, path: str) -> None:
        super().__init__()
        self.name = name
        self.bases = bases
        self._order: list[ClassValue | Native] | None = None
        self.node = node
        self.path = path
        self.is_dataclass = False
        self.transforms = False
        """Whether the classes derived from it are dataclasses (PEP 681)."""
        self.members: dict[str, Instance] | None = None
        self.combined: dict[int, Instance] = {}
        """Members of a flag that are put together and have no name of their own, by their bits."""
        self.annotations: list[tuple[str, ast.expr]] = []
        self.metaclass: ClassValue | None = None
        self.options: dict[str, Value] = {}
        """Keyword arguments of the decorator that made it a dataclass."""
        self.site: Site | None = None
        """Where it is defined by a statement of its own."""

    def mro(self) -> list[ClassValue | Native]:
        """Itself and its bases in the order in which Python looks into them (C3). Where there is no such order, that of the
        bases as they are written decides."""
        if self._order is None:
            self._order = self._linearised()
        return self._order

    def _linearised(self) -> list[ClassValue | Native]:
        chains = [
            list(base.mro()) if isinstance(base, ClassValue) else [base]
            for base in of_kind(self.bases, ClassValue, Native)
        ]
        chains.append([chain[0] for chain in chains])
        order: list[ClassValue | Native] = [self]
        while chains := [chain for chain in chains if chain]:
            heads = [chain[0] for chain in chains]
            free = (head for head in heads if not any(head in chain[1:] for chain in chains))
            following = next(free, heads[0])
            order.append(following)
            chains = [[entry for entry in chain if entry != following] for chain in chains]
        return order

    def is_made_plainly(self) -> bool:
        """Whether a call of the class is one of its ``__init__``: no metaclass, no ``__new__``, no unknown base."""
        own = of_kind(self.mro(), ClassValue)
        return self.has_known_bases() and not any(base.node.keywords or "__new__" in base.slots for base in own)

    def has_known_bases(self) -> bool:
        """Whether all of its bases are classes of the user's, of PyTorch or of Python."""
        natives = of_kind(self.mro(), Native)
        return not self.opaque and not any(
            base.kind == "external" and not base.path.startswith(_OF_PYTHON) for base in natives
        )

    @property
    def opaque(self) -> bool:
        """Whether some base is not known, so that attributes may come from anywhere."""
        return any(
            not isinstance(base, ClassValue | Native) or (isinstance(base, ClassValue) and base.opaque)
            for base in self.bases
        )

    @property
    def stands_for_any(self) -> bool:
        """Whether nothing writes the class: it is supposed for a parameter by what is done with that."""
        return not self.node.body

    def derives_from(self, *paths: str) -> bool:
        """Whether one of these classes of libraries is among its bases."""
        return any(base.path in paths for base in of_kind(self.mro(), Native))

    def native_base(self) -> Native | None:
        return first_of(self.mro(), Native)

    def is_module(self) -> bool:
        return any(base.kind == "module-class" for base in of_kind(self.mro(), Native))


class AttributeSlots(OwnSlots):
    """The attributes of an instance. `kin`: what it shares with those that it may be mistaken for."""

    kin: Kin | None = None


@dataclass(eq=False)
class Kin:
    """Instances of one class, `members`, and those that stand for one of them, whichever it is, `anyone`: what is written to
    one of these may be written to any other of them, and to any member."""

    members: list[Instance]
    anyone: list[Instance] = field(default_factory=list)


class Instance(Ref):
    """An instance of a user's class. `slots` are its attributes.

    `native`: the library part of an instance whose class derives from one, such as nn.Linear.
    """

    def __init__(self, cls: ClassValue) -> None:
        super().__init__()
        self.slots: AttributeSlots = AttributeSlots()
        self.cls = cls
        self.site: Site | None = None
        self.name: str | None = None
        self.native: LibraryModule | LibraryObject | None = None
        self.state: Slots = {"training": True, "device": CPU}

    @property
    def is_module(self) -> bool:
        return self.cls.is_module()

    @property
    def may_be(self) -> tuple[Instance, ...]:
        """The instances of which it stands for one; none where it is one itself."""
        kin = self.slots.kin
        return () if kin is None or not any(one is self for one in kin.anyone) else tuple(kin.members)


@dataclass(frozen=True)
class Built:
    """Where a module comes from that a package built: the recipe of the model, the dotted name of the part, the names of the
    parts below, and whether it was built with parameters."""

    model: ModuleSpec
    part: str
    names: frozenset[str]
    has_parameters: bool

    def is_part(self, model: ModuleSpec, part: str) -> bool:
        return self.part == part and self.model == model


class HasArguments:
    """Something that has arguments: a call, or an object by the call that made it."""

    args: tuple[Value, ...]
    kwargs: dict[str, Value]

    @property
    def first(self) -> Value:
        """The first argument that is given by position, unknown where there is none."""
        return self.args[0] if self.args else UNKNOWN

    def given(self, position: int, name: str, default: Value = None) -> Value:
        """An argument, by its name or its position."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if position < len(self.args) else default


class Made(Ref, HasArguments):
    """An object of a class of a library: the class, and the arguments that it was made with."""

    path: str

    @property
    def type_name(self) -> str:
        return self.path.rpartition(".")[2]


class LibraryModule(Made):
    """A module of torch.nn, by its constructor and arguments, or of a model that another package has `built`.

    Slots: training, device (None: not known), dtype, requires_grad; containers have `children`, a tuple of (name, module), or UNKNOWN.
    `attributes`: what was set on it and changes it; `tied`: parameters of others in the place of its own.
    """

    def __init__(self, path: str, args: tuple[Value, ...], kwargs: dict[str, Value], site: Site | None) -> None:
        super().__init__(
            training=True,
            device=CPU,
            dtype=None,
            requires_grad=True,
            children=None,
            attributes={},
            tied={},
            version=0,
        )
        self.path = path
        self.args = args
        self.kwargs = kwargs
        self.site = site
        self.name: str | None = None
        self.broken = False
        self.undecided: ModuleSpec | None = None
        """The recipe of a layer of which PyTorch does not say whether it can be made: for sizes that are not known."""
        self.built: Built | None = None

    @property
    def state(self) -> Slots:
        """Mode, device and the like, as an `Instance` has them."""
        return self.slots

    @property
    def device(self) -> Device | None:
        """Where the parameters are, None where that is not known."""
        place = self.slots["device"]
        return as_kind(place, Device)

    @property
    def requires_grad(self) -> bool | None:
        """Whether the parameters require grad, None where that is not known, or not the same for all."""
        state = self.slots["requires_grad"]
        if self.built is not None and any(
            part.requires_grad is not state
            for _, part in self.children or ()
            if isinstance(part, LibraryModule) and part.built is not None
        ):
            return None
        return as_kind(state, bool)

    @property
    def children(self) -> tuple[tuple[str, Value], ...] | None:
        """None for modules that are no containers, and where the children are not known."""
        children = self.slots["children"]
        return as_kind(children, tuple)


class LibraryObject(Made):
    """An object of any other modelled library class: optimizer, scheduler, dataset, loader, scaler."""

    def __init__(self, path: str, args: tuple[Value, ...], kwargs: dict[str, Value], site: Site | None) -> None:
        super().__init__()
        self.path = path
        self.args = args
        self.kwargs = kwargs
        self.site = site
        self.iterates = False

    def iterator(self) -> LibraryObject:
        """An iterator over it: the same but for its kind."""
        made = LibraryObject(self.path, self.args, self.kwargs, self.site)
        made.slots, made.iterates = self.slots, True
        return made


class Globals(Names):
    """The names of an imported module of the user's."""


@dataclass(eq=False)
class Namespace:
    """An imported module of the user's."""

    name: str
    slots: Names


@dataclass(eq=False)
class Super:
    instance: Value
    owner: ClassValue


@dataclass(frozen=True)
class Parameters:
    """``model.parameters()``: the parameters of these modules, in a container that is never opened. `once`: the state of
    the iterator, None where it can be gone through again. `made`: where it was made."""

    modules: tuple[Value, ...]
    named: bool = False
    once: Ref | None = field(default=None, compare=False)
    made: Site | None = field(default=None, compare=False)


AnyModule = LibraryModule | Instance


def numbers_of(values: Iterable[Value]) -> tuple[float, ...] | None:
    """Values that are all numbers, None where one of them is none."""
    given = tuple(values)
    return given if all_are(given, int, float) else None  # type: ignore[return-value]


def sizes_of(values: Iterable[Value]) -> tuple[Size, ...] | None:
    """Values that are all sizes, None where one of them is none."""
    given = tuple(values)
    return given if all(map(is_int, given)) else None  # type: ignore[return-value]


def is_int(value: Value) -> TypeGuard[Size]:
    return is_number(value) or isinstance(value, Dim)


def is_plain(value: object) -> TypeGuard[bool | int | float | str | None]:
    """Whether a value is a truth, a number or a text that is known, or None."""
    return value is None or isinstance(value, bool | int | float | str)


def is_of(value: Value, kind: type[object]) -> bool:
    """Whether a value is a number or a text of one of Python's types, known or not; a truth is an int, too."""
    return isinstance(value, kind) or (isinstance(value, Scalar) and value.type == kind.__name__)


def tuple_of(value: Value) -> tuple[Any, ...]:
    """A tuple as it is, and one of any other value alone: a key, or what a function returns, may be one or several."""
    return value if isinstance(value, tuple) else (value,)


def is_native(value: Value, *paths: str) -> TypeGuard[Native]:
    """Whether a value is what libraries have under one of these names."""
    return isinstance(value, Native) and value.path in paths


def is_native_kind(value: Value, *kinds: str) -> TypeGuard[Native]:
    """Whether a value is something of libraries of one of these kinds."""
    return isinstance(value, Native) and value.kind in kinds


def is_object_named(value: Value, *names: str) -> TypeGuard[LibraryObject]:
    """Whether a value is an object of a class of libraries with one of these names, in whatever module."""
    return isinstance(value, LibraryObject) and value.type_name in names


def is_object(value: Value, *paths: str) -> TypeGuard[LibraryObject]:
    """Whether a value is an object of one of these classes of libraries."""
    return isinstance(value, LibraryObject) and value.path in paths


def unwrapped(value: Value) -> Value:
    """The module inside of a wrapper, and everything else as it is."""
    return value.inner if isinstance(value, Wrapped) else value


def is_module(value: Value) -> TypeGuard[AnyModule]:
    return isinstance(value, LibraryModule) or (isinstance(value, Instance) and value.is_module)


__all__ = [name for name in dir() if not name.startswith("_")] + ["Device"]

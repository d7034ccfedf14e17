"""Records and enumerations: dataclasses, named tuples of both kinds, members of enums."""

from __future__ import annotations

import ast
import functools
import operator
import sys
from collections.abc import Callable
from typing import TypeGuard

from torchsleuth.interp import exceptions, special
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import copies
from torchsleuth.sifting import all_are, any_are, as_kind, of_kind
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    AttributesView,
    Bound,
    Builtin,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    NamedResult,
    Ref,
    Value,
    is_object,
    is_unknown,
    tuple_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

NAMESPACES = ("types.SimpleNamespace", "argparse.Namespace")
"""Objects that only hold attributes."""
NAMED_TUPLE = Native("typing.NamedTuple", "external")


# -- fields ----------------------------------------------------------------------------------------


def is_named_tuple(cls: ClassValue) -> bool:
    return cls.derives_from(NAMED_TUPLE.path)


def fields(cls: ClassValue) -> dict[str, ClassValue]:
    """Names of the fields of a dataclass or a named tuple, in order of definition over the bases, and who has them; those that
    are only arguments of its constructor are among them."""
    found: dict[str, ClassValue] = {}
    for base in of_kind(reversed(cls.mro()), ClassValue):
        for name, annotation in base.annotations:
            if _kind(annotation) not in (_OF_CLASS, _KEYWORDS_ONLY):
                found[name] = base
    return found


def _described(cls: ClassValue) -> DictValue:
    """``__dataclass_fields__``: variables of the class and mere arguments are among the fields there."""
    bases = [base for base in of_kind(reversed(cls.mro()), ClassValue) if base.is_dataclass]
    names = [name for base in bases for name, annotation in base.annotations if _kind(annotation) != _KEYWORDS_ONLY]
    return DictValue(dict.fromkeys(names, UNKNOWN))


@functools.lru_cache(maxsize=10_000)
def _kind(annotation: ast.expr | None) -> str:
    """The last name of an annotation, without what stands in its brackets."""
    if annotation is None:
        return ""
    written = as_kind(annotation.value, str) if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    return (written or "").partition("[")[0].rpartition(".")[2].strip()


def kept_fields(cls: ClassValue) -> list[str]:
    """The fields that the objects of a dataclass have."""
    return [name for name, owner in fields(cls).items() if not _is_passed_on(owner, name)]


_KEYWORDS_ONLY, _OF_CLASS, _PASSED_ON = "KW_ONLY", "ClassVar", "InitVar"


def _behind_keywords_only(cls: ClassValue) -> set[str]:
    """The fields in the body of a class that stand behind ``_: KW_ONLY``."""
    written = [_kind(annotation) for _, annotation in cls.annotations]
    if _KEYWORDS_ONLY not in written:
        return set()
    return {name for name, _ in cls.annotations[written.index(_KEYWORDS_ONLY) + 1 :]}


def _option(cls: ClassValue, name: str, option: str) -> Value:
    """The option of a field in ``field(…)``; None where it says nothing."""
    owner = fields(cls).get(name)
    written = owner.slots.get(name) if owner is not None else None
    return written.kwargs.get(option) if is_object(written, _FIELD) else None


def fill(
    interp: Interpreter, instance: Instance, args: tuple[Value, ...], kwargs: dict[str, Value], frame: Frame
) -> None:
    """The constructor of a dataclass: its fields, with their defaults."""
    given = _given(interp, instance.cls, args, kwargs)
    kept = set(kept_fields(instance.cls))
    passed = [name for name in given if name not in kept]
    for name, value in given.items():
        if name not in passed and value is not MISSING:
            interp.heap.set(instance.slots, name, value)
    post = as_kind(interp.class_attribute(instance.cls, "__post_init__"), Function)
    if post is not None:
        interp.call_function(post, (instance, *(given[name] for name in passed)), {}, None, frame)


def has_made_constructor(cls: ClassValue) -> bool:
    """Whether the constructor is the one that ``@dataclass`` makes, of the class or of the nearest base that has any."""
    for base in cls.mro():
        match base:
            case ClassValue() if "__init__" in base.slots:
                return False
            case ClassValue() if base.is_dataclass:
                return base.options.get("init") is not False
    return False


def _is_passed_on(owner: ClassValue, name: str) -> bool:
    """Whether a field that a class has of its own is only an argument of ``__post_init__``."""
    return _kind(dict(owner.annotations).get(name)) == _PASSED_ON


def _placed(cls: ClassValue) -> list[str]:
    """The fields that a constructor takes by place, in order."""
    placed: list[str] = []
    found = fields(cls)
    behind = {owner: _behind_keywords_only(owner) for owner in dict.fromkeys(found.values())}
    for name, owner in found.items():
        default = owner.slots.get(name)
        given = default.kwargs if is_object(default, _FIELD) else {}
        if owner.options.get("kw_only") is True and given.get("kw_only") is not False:
            continue
        if name in behind[owner] and given.get("kw_only") is not False:
            continue
        if given.get("init") is not False and given.get("kw_only") is not True:
            placed.append(name)
    return placed


_FIELD = "dataclasses.field"


def _given(interp: Interpreter, cls: ClassValue, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The fields of a new record. Where one is lacking, the call raises as it stands: others are given, and nothing is left out."""
    names = list(fields(cls))
    placed = _placed(cls) if cls.is_dataclass else names
    values = {**dict(zip(placed, args)), **kwargs}
    found: dict[str, Value] = {}
    for name in names:
        value = values.get(name, MISSING)
        if value is MISSING:
            value = interp.class_attribute(cls, name)
            if is_object(value, _FIELD):
                value = _default(interp, value)
        found[name] = value
    lacking = [name for name in placed if found[name] is MISSING]
    return {**dict.fromkeys(names, UNKNOWN), **values} if lacking else found


def _default(interp: Interpreter, field: LibraryObject) -> Value:

    if "default" in field.kwargs:
        return field.kwargs["default"]
    if "default_factory" in field.kwargs and field.site is not None:
        return interp.call(field.kwargs["default_factory"], Arguments((), {}, field.site.node, field.site.frame))
    return MISSING if field.kwargs.get("init") is False else UNKNOWN


def attributes(owner: Value) -> Value:
    """The attributes of an object as a dict, as ``vars(owner)`` shows them at that moment."""
    # A parser may have been given more arguments than are known.
    plain = is_object(owner, *NAMESPACES) and not owner.slots.get(("open",))
    known = (
        isinstance(owner, Instance) and owner.native is None and not owner.state.get("open") and not owner.cls.opaque
    )
    return AttributesView(owner) if isinstance(owner, Ref) and (plain or known) else UNKNOWN


def refuses(cls: ClassValue, name: str) -> bool:
    """Whether the objects of a class have no place for an attribute: its ``__slots__`` and those of its bases do not name it."""
    places: set[Value] = set()
    for base in cls.mro():
        if not isinstance(base, ClassValue):
            if base.path not in ("builtins.object", "abc.ABC", "typing.Generic"):
                return False
            continue
        written = base.slots.get("__slots__", MISSING)
        if written is MISSING and base.is_dataclass and base.options.get("slots") is True:
            written = tuple(one for one, _ in base.annotations)
        names = written.items if isinstance(written, ListValue) else (written,) if isinstance(written, str) else written
        if not isinstance(names, tuple) or not all_are(names, str):
            return False
        places.update(names)
    return not places & {name, "__dict__"}


def as_dict(record: Value) -> Value:
    """``dataclasses.asdict(record)``: the fields, with those of records among them."""
    if not isinstance(record, Instance) or not record.cls.is_dataclass or record.state.get("open"):
        return UNKNOWN
    return DictValue({name: _copied(record.slots.get(name, UNKNOWN)) for name in kept_fields(record.cls)})


def as_tuple(record: Value) -> Value:
    """``dataclasses.astuple(record)``"""
    made = as_kind(as_dict(record), DictValue)
    return tuple(made.items.values()) if made is not None and made.items is not None else UNKNOWN


def replaced(interp: Interpreter, call: Arguments) -> Value:
    """``dataclasses.replace(record, **changes)``"""
    record = as_kind(call.first, Instance)
    if record is None or not record.cls.is_dataclass or record.state.get("open") or not call.exact:
        return UNKNOWN
    taken = [name for name in kept_fields(record.cls) if _option(record.cls, name, "init") is not False]
    held = {name: record.slots.get(name, UNKNOWN) for name in taken}
    return interp.instantiate(record.cls, (), {**held, **call.kwargs}, None, call.frame)


def described_fields(cls: Value) -> Value:
    """``dataclasses.fields(record)``: objects that have the names of the fields, and their defaults."""
    cls = cls.cls if isinstance(cls, Instance) else cls
    if not isinstance(cls, ClassValue) or not cls.is_dataclass:
        return UNKNOWN
    made = []
    for name in kept_fields(cls):
        owner = fields(cls)[name]
        field = LibraryObject("dataclasses.Field", (), {}, None)
        field.slots["name"] = name
        default = owner.slots.get(name, UNKNOWN)
        field.slots["default"] = UNKNOWN if isinstance(default, LibraryObject) else default
        made.append(field)
    return tuple(made)


def compared(interp: Interpreter, name: str, left: Value, right: Value, node: ast.Compare, frame: Frame) -> Value:
    """A comparison of two records of one class, by their fields; ABSENT for other objects."""
    if not isinstance(left, Instance) or not isinstance(right, Instance) or left.cls is not right.cls:
        return special.ABSENT
    options = left.cls.options
    if not left.cls.is_dataclass or left.state.get("open") or right.state.get("open"):
        return special.ABSENT
    if options.get("eq") is False or (name not in ("eq", "ne") and options.get("order") is not True):
        return special.ABSENT
    if left is right and name in ("eq", "ne"):
        return name == "eq"
    counted = [field for field in kept_fields(left.cls) if _option(left.cls, field, "compare") is not False]
    one, two = (tuple(side.slots.get(field, UNKNOWN) for field in counted) for side in (left, right))
    if UNKNOWN in one or UNKNOWN in two:
        return UNKNOWN
    return interp.compare(_COMPARISONS[name](), one, two, node, frame)


_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE,
}  # fmt: skip


def _with_names(interp: Interpreter, kind: str, held: dict[str, Value], frame: Frame) -> Value:
    """``kind(name=value, …)``"""
    parts = []
    for name, value in held.items():
        text = as_kind(interp.shown(value, "__repr__", frame), str)
        if text is None:
            return UNKNOWN
        parts.append(f"{name}={text}")
    return f"{kind}({', '.join(parts)})"


def _shown_namespace(interp: Interpreter, owner: LibraryObject, frame: Frame) -> Value:
    """``repr(owner)`` of a namespace that holds these attributes alone; ABSENT for other objects."""
    entries = known_attributes(owner)
    if entries is None:
        return special.ABSENT
    kind = "namespace" if owner.path == NAMESPACES[0] else "Namespace"
    return _with_names(interp, kind, entries, frame) if all(map(str.isidentifier, entries)) else UNKNOWN


def known_attributes(owner: Value) -> dict[str, Value] | None:
    """All that a namespace holds; None where that is not known, and for all other values."""
    if not is_object(owner, *NAMESPACES):
        return None
    view = as_kind(attributes(owner), DictValue)
    held = None if view is None else view.items
    return held if held is not None and all(isinstance(name, str) for name in held) else None


_TEXT_OF_VALUE = ("enum.IntEnum", "enum.IntFlag", "enum.StrEnum")


def _shown_member(interp: Interpreter, member: Instance, how: str, frame: Frame) -> Value:
    """``str(member)`` or ``repr(member)`` of a member of an enum that says nothing of it."""
    value = member.slots.get("value", UNKNOWN)
    if not isinstance(member.name, str):
        return UNKNOWN
    if how == "__str__" and has_text_of_value(member):
        return interp.shown(value, how, frame)
    text = as_kind(interp.shown(value, "__repr__", frame), str)
    name = f"{member.cls.name}.{member.name}"
    return name if how == "__str__" else UNKNOWN if text is None else f"<{name}: {text}>"


def has_text_of_value(member: Instance) -> bool:
    """Whether the text of a member of an enum is that of its value, as it is since Python 3.11 for some kinds of enums."""
    return sys.version_info >= (3, 11) and member.cls.derives_from(*_TEXT_OF_VALUE)


def shown(interp: Interpreter, record: Instance | LibraryObject, how: str, frame: Frame) -> Value:
    """``str(record)`` or ``repr(record)`` of a dataclass, a namespace or a member of an enum; ABSENT for other objects."""
    if isinstance(record, LibraryObject):
        return _shown_namespace(interp, record, frame)
    if is_enum(record.cls):
        return _shown_member(interp, record, how, frame)
    if not record.cls.is_dataclass or record.state.get("open") or record.cls.options.get("repr") is False:
        return special.ABSENT
    names = [name for name in kept_fields(record.cls) if _option(record.cls, name, "repr") is not False]
    held = {name: record.slots.get(name, UNKNOWN) for name in names}
    return _with_names(interp, record.cls.name, held, frame)


def _copied(value: Value) -> Value:
    """A copy of a field; what is in a container may be a record."""
    match value:
        case Choice():
            return UNKNOWN
        case Instance() if value.cls.is_dataclass:
            return as_dict(value)
        case ListValue() if value.type_name == "list" and value.items is not None:
            return ListValue(tuple(map(_copied, value.items)))
        case DictValue() if value.type_name == "dict" and value.items is not None:
            return DictValue({key: _copied(one) for key, one in value.items.items()})
    if type(value) is tuple:
        return tuple(map(_copied, value))
    held = value.items if isinstance(value, ListValue) else as_kind(value, tuple) or ()
    nested = held is None or isinstance(value, DictValue) or any_are(held, Ref)
    return UNKNOWN if nested else copies.deep(value)


def make_named_tuple(interp: Interpreter, cls: ClassValue, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A tuple whose items have the names that its class gives them."""
    if interp.class_attribute(cls, "__new__") is not MISSING:
        return UNKNOWN
    found = _given(interp, cls, args, kwargs)
    return NamedResult(tuple(found), tuple(found.values()), cls)


def named_tuple(interp: Interpreter, call: Arguments) -> Value:
    """``collections.namedtuple(name, fields)``, as a class with these fields."""
    name, given = as_kind(call.given(0, "typename"), str), call.given(1, "field_names")
    names: tuple[Value, ...] | None = tuple(given.replace(",", " ").split()) if isinstance(given, str) else None
    if names is None:
        names = interp.sequence(given, call.node, call.frame)
    if name is None or names is None or not all_are(names, str):
        return UNKNOWN
    node = ast.ClassDef(name=name, bases=[], keywords=[], body=[], decorator_list=[])
    made = ClassValue(name, (NAMED_TUPLE,), node, call.frame.path)
    made.annotations = [(one, ast.Name("object", ast.Load())) for one in names]
    defaults = interp.sequence(call.kwargs.get("defaults", ()), call.node, call.frame)
    for one, value in zip(reversed(names), reversed(defaults or ())):
        made.slots[one] = value
    return made


def attribute(interp: Interpreter, owner: NamedResult, name: str, frame: Frame) -> Value:
    """An attribute of a tuple with names: an item, or what its class has."""
    if name in owner.fields:
        return owner[owner.fields.index(name)]
    if name == "_asdict":
        return Builtin(name, lambda call: DictValue(dict(zip(owner.fields, owner))))
    if name == "_replace":
        return Builtin(name, lambda call: _replaced(owner, call))
    found = (
        MISSING if owner.of is None else class_attribute(interp, owner.of, name, interp.class_attribute(owner.of, name))
    )
    match found:
        case Function() if found.kind == "property":
            return interp.call_function(found, (owner,), {}, None, frame)
        case Function() if found.kind == "function":
            return Bound(owner, found)
    return Bound(owner, name) if found is MISSING or is_unknown(found) else found


def _replaced(owner: NamedResult, call: Arguments) -> Value:
    items = tuple(call.kwargs.get(name, item) for name, item in zip(owner.fields, owner))
    return NamedResult(owner.fields, items, owner.of) if call.exact else UNKNOWN


def class_attribute(interp: Interpreter, cls: ClassValue, name: str, found: Value) -> Value:
    """An attribute of a class, where `found` stands in its body: what enums and named tuples make of it or add."""
    if is_enum(cls) and name in members(cls):
        return members(cls)[name]
    if is_enum(cls) and name == "_value2member_map_":
        every = members(cls).values()
        return DictValue({one.slots["value"]: one for one in every if not is_unknown(one.slots["value"])})
    if found is MISSING and cls.is_dataclass and name == "__dataclass_fields__":
        return _described(cls)
    if found is MISSING and is_named_tuple(cls) and name in _OF_NAMED_TUPLES:
        return _OF_NAMED_TUPLES[name](interp, cls)
    return UNKNOWN if found is MISSING else found


def _maker(interp: Interpreter, cls: ClassValue) -> Value:
    return Builtin("_make", lambda call: _made_of(interp, cls, call))


def _field_defaults(interp: Interpreter, cls: ClassValue) -> Value:
    return DictValue({one: owner.slots[one] for one, owner in fields(cls).items() if one in owner.slots})


_OF_NAMED_TUPLES: dict[str, Callable[[Interpreter, ClassValue], Value]] = {
    "_fields": lambda interp, cls: tuple(fields(cls)),
    "_field_defaults": _field_defaults,
    "_make": _maker,
}
"""The attributes that a class of named tuples has beside its fields."""


def _made_of(interp: Interpreter, cls: ClassValue, call: Arguments) -> Value:
    items = interp.sequence(call.given(0, "iterable"), call.node, call.frame)
    return UNKNOWN if items is None else make_named_tuple(interp, cls, items, {})


# -- enums -----------------------------------------------------------------------------------------


def is_enum(cls: ClassValue) -> bool:
    return any(base.path.startswith("enum.") for base in of_kind(cls.mro(), Native))


def is_member(value: Value) -> TypeGuard[Instance]:
    return isinstance(value, Instance) and is_enum(value.cls)


def members(cls: ClassValue) -> dict[str, Instance]:
    """The members of an enum by name, in order, aliases among them; they are made once."""
    if cls.members is None:
        cls.members = {}
        is_flag = cls.derives_from(*_FLAGS)
        last: Value = 0
        for name, value in cls.slots.items():
            if not _is_value(name, value):
                continue
            if is_object(value, "enum.auto"):
                value = _following(cls, name, last, is_flag)
            same = [one for one in cls.members.values() if _is_same(one.slots["value"], value)]
            last = value if not is_flag else max(value, last) if all_are((value, last), int) else UNKNOWN
            cls.members[name] = same[0] if same else _made(cls, name, value)
    return cls.members


_FLAGS = ("enum.Flag", "enum.IntFlag")


def _is_value(name: Value, value: Value) -> bool:
    """Whether a name in the body of an enum is that of a member."""
    plain = isinstance(name, str) and not name.startswith("_")
    return plain and not isinstance(value, Function | Bound | ClassValue)


def numbered(interp: Interpreter, cls: ClassValue, name: str, value: Value, frame: Frame) -> Value:
    """A value that is assigned in the body of a class: of an enum, ``auto()`` is the value that follows."""
    if not is_object(value, "enum.auto") or not is_enum(cls):
        return value
    before = [one for key, one in cls.slots.items() if _is_value(key, one)]
    maker = as_kind(interp.class_attribute(cls, "_generate_next_value_"), Function)
    if maker is not None:
        return interp.call_function(maker, (name, 1, len(before), ListValue(tuple(before))), {}, None, frame)
    is_flag = cls.derives_from(*_FLAGS)
    last: Value = before[-1] if before else 0
    if is_flag and all_are(before, int):
        last = max(before, default=0)
    found = _following(cls, name, last, is_flag)
    return value if is_unknown(found) else found


def _following(cls: ClassValue, name: str, last: Value, is_flag: bool) -> Value:
    """The value of ``auto()``."""
    if cls.derives_from("enum.StrEnum"):
        return name.lower()
    if not isinstance(last, int) or "_generate_next_value_" in cls.slots:
        return UNKNOWN
    return (1 << last.bit_length() if last else 1) if is_flag else last + 1


def _is_same(one: Value, other: Value) -> bool:
    plain = (str, int, float, bool, tuple)
    return isinstance(one, plain) and isinstance(other, plain) and one == other


def _made(cls: ClassValue, name: str | None, value: Value) -> Instance:
    made = Instance(cls)
    made.name = name
    made.slots.update(name=name, value=value, _value_=value, _name_=name)
    return made


def canonical(cls: ClassValue) -> list[Instance]:
    """The members of an enum without aliases. Of flags, a member of several bits or of none is an alias, since Python 3.11."""
    own = [one for name, one in members(cls).items() if one.name == name]
    if sys.version_info < (3, 11) or not cls.derives_from(*_FLAGS):
        return own
    return [one for one in own if not isinstance(bits := one.slots["value"], int) or _is_single(bits)]


def _is_single(bits: int) -> bool:
    return bits > 0 and bits & (bits - 1) == 0


def start_members(interp: Interpreter, cls: ClassValue, frame: Frame) -> None:
    """Call the constructor of an enum for each of its members."""
    init = as_kind(interp.class_attribute(cls, "__init__"), Function)
    if init is None:
        return
    for name, one in members(cls).items():
        if one.name != name:
            continue
        value = one.slots["value"]
        interp.call_function(init, (one, *tuple_of(value)), {}, None, frame)


def combined(name: str, left: Value, right: Value) -> Value:
    """``Flag.A | Flag.B`` and its like, of an IntFlag also with a number; ABSENT for other values."""
    flag = left if is_member(left) else right
    if not is_member(flag) or not flag.cls.derives_from(*_FLAGS) or name not in _BITWISE:
        return special.ABSENT
    sides = [_bits(flag.cls, side) for side in (left, right)]
    if None in sides:
        return special.ABSENT
    return _of_bits(flag.cls, _BITWISE[name](*of_kind(sides, int)))


def inverted(value: Value) -> Value:
    """``~Flag.A``: the other bits that the flag has; ABSENT for other values."""
    bits = _bits(value.cls, value) if is_member(value) and value.cls.derives_from(*_FLAGS) else None
    if bits is None or not is_member(value):
        return special.ABSENT
    every = [one.slots["value"] for one in members(value.cls).values()]
    whole = functools.reduce(operator.or_, of_kind(every, int), 0)
    # Numbers that no member names, and bits beyond, depend on the version of Python.
    if sys.version_info < (3, 11) or not all_are(every, int) or bits & ~whole or whole & (whole + 1):
        return UNKNOWN
    return _of_bits(value.cls, whole & ~bits)


_BITWISE: dict[str, Callable[[int, int], int]] = {"or_": operator.or_, "and_": operator.and_, "xor": operator.xor}


def _bits(cls: ClassValue, value: Value) -> int | None:
    """The number of a member of a flag, or one that counts as such a member."""
    if is_member(value):
        return as_kind(value.slots["value"], int) if value.cls is cls else None
    return as_kind(value, int) if cls.derives_from("enum.IntFlag") else None


def _of_bits(cls: ClassValue, value: int) -> Value:
    """The member of a flag that has these bits; it may have no name of its own."""
    known = members(cls).values()
    named = next((one for one in known if one.slots["value"] == value), None)
    if named is not None:
        return named
    if value not in cls.combined:
        cls.combined[value] = _without_name(cls, value)
    return cls.combined[value]


def _without_name(cls: ClassValue, value: int) -> Instance:
    single = [one for one in canonical(cls) if isinstance(bits := one.slots["value"], int) and bits & value == bits]
    covered = functools.reduce(operator.or_, (one.slots["value"] for one in single), 0) == value
    if not covered or not value or sys.version_info < (3, 11):
        made = _made(cls, None, value)
        made.slots.update(dict.fromkeys(("name", "_name_"), None if not value else UNKNOWN))
        return made
    return _made(cls, "|".join(one.name or "" for one in single), value)


def parts(member: Instance) -> tuple[Value, ...] | None:
    """The members of which a flag is put together; None for other objects, and where that is not known."""
    bits = as_kind(member.slots.get("value"), int)
    if not is_member(member) or not member.cls.derives_from(*_FLAGS) or bits is None or sys.version_info < (3, 11):
        return None
    return tuple(one for one in canonical(member.cls) if one.slots["value"] & bits)


def member(interp: Interpreter, cls: ClassValue, args: tuple[Value, ...], frame: Frame) -> Value:
    """``Color("red")``: the member with that value."""
    if len(args) == 1 and isinstance(args[0], str | int | float | bool | tuple):
        for one in members(cls).values():
            if _is_same(one.slots["value"], args[0]):
                return one
        if cls.derives_from(*_FLAGS) and (bits := as_kind(args[0], int)) is not None:
            return _flag(cls, bits)
        values = [one.slots["value"] for one in members(cls).values()]
        if UNKNOWN in values:
            return UNKNOWN
        found = special.of_class(interp, cls, "_missing_", args, frame)
        if found is not None and found is not special.ABSENT:
            return found if is_member(found) else UNKNOWN
        exceptions.throw(interp, exceptions.made("builtins.ValueError", (f"{args[0]!r} is not a valid {cls.name}",)))
    return args[0] if len(args) == 1 and is_member(args[0]) else UNKNOWN


def _flag(cls: ClassValue, bits: int) -> Value:
    """``Flag(3)``; bits that no member has are refused, or kept, as the version of Python and the class have it."""
    every = functools.reduce(operator.or_, of_kind((one.slots["value"] for one in members(cls).values()), int), 0)
    return _of_bits(cls, bits) if bits >= 0 and not bits & ~every else UNKNOWN


def plain(value: Value) -> Value:
    """The number or text that a member of IntEnum, StrEnum or ``(str, Enum)`` is; any other value as it is."""
    if isinstance(value, Instance) and is_enum(value.cls):
        bases = {base.path for base in of_kind(value.cls.mro(), Native)}
        if bases & {"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.str", "builtins.int", "enum.Flag"}:
            return value.slots["value"]
    return value


_BUILTIN_BASES = ("enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.str", "builtins.int")


def value_of(member: Instance) -> Value:
    """The number or text that a member of an enum equals; UNKNOWN where it equals none."""
    return member.slots.get("value", UNKNOWN) if member.cls.derives_from(*_BUILTIN_BASES) else UNKNOWN


__all__ = [
    "as_dict",
    "as_tuple",
    "attribute",
    "attributes",
    "canonical",
    "class_attribute",
    "combined",
    "inverted",
    "parts",
    "compared",
    "described_fields",
    "fields",
    "fill",
    "is_enum",
    "is_member",
    "is_named_tuple",
    "make_named_tuple",
    "member",
    "members",
    "named_tuple",
    "plain",
    "replaced",
    "shown",
    "refuses",
    "start_members",
    "value_of",
]

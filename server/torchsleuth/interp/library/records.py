"""Records and enumerations: dataclasses, named tuples of both kinds, members of enums."""

from __future__ import annotations

import ast

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import copies
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    NamedResult,
    Ref,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.heap import MISSING

NAMED_TUPLE = Native("typing.NamedTuple", "external")


# -- fields ----------------------------------------------------------------------------------------


def is_named_tuple(cls: ClassValue) -> bool:
    return any(isinstance(base, Native) and base.path == NAMED_TUPLE.path for base in cls.mro())


def fields(cls: ClassValue) -> dict[str, ClassValue]:
    """Names of the fields of a dataclass or a named tuple, in order of definition over the bases, and who has them."""
    found: dict[str, ClassValue] = {}
    for base in reversed(cls.mro()):
        if isinstance(base, ClassValue):
            for name, annotation in base.annotations:
                if not ast.unparse(annotation).startswith("ClassVar"):
                    found[name] = base
    return found


def fill(
    interp: Interpreter, instance: Instance, args: tuple[Value, ...], kwargs: dict[str, Value], frame: Frame
) -> None:
    """The constructor of a dataclass: its fields, with their defaults."""
    for name, value in _given(interp, instance.cls, args, kwargs, frame).items():
        interp.heap.set(instance.slots, name, value)
    post = interp.class_attribute(instance.cls, "__post_init__")
    if isinstance(post, Function):
        interp.call_function(post, (instance,), {}, None, frame)


def _given(
    interp: Interpreter, cls: ClassValue, args: tuple[Value, ...], kwargs: dict[str, Value], frame: Frame
) -> dict[str, Value]:
    """What the fields of a new record are."""
    names = list(fields(cls))
    values = {**dict(zip(names, args)), **kwargs}
    found: dict[str, Value] = {}
    for name in names:
        value = values.get(name, MISSING)
        if value is MISSING:
            value = interp.class_attribute(cls, name)
            if isinstance(value, LibraryObject) and value.path == "dataclasses.field":
                value = _default(interp, value)
        found[name] = UNKNOWN if value is MISSING else value
    return found


def _default(interp: Interpreter, field: LibraryObject) -> Value:

    if "default" in field.kwargs:
        return field.kwargs["default"]
    if "default_factory" in field.kwargs and field.site is not None:
        return interp.call(field.kwargs["default_factory"], Arguments((), {}, field.site.node, field.site.frame))
    return UNKNOWN


def attributes(owner: Value) -> Value:
    """The attributes of an object as a dict, as ``vars(owner)`` shows them at that moment."""
    # A parser may have been given more arguments than are known.
    plain = isinstance(owner, LibraryObject) and owner.path == "types.SimpleNamespace"
    known = (
        isinstance(owner, Instance) and owner.native is None and not owner.state.get("open") and not owner.cls.opaque
    )
    if not plain and not known:
        return UNKNOWN
    return DictValue({name: value for name, value in owner.slots.items() if isinstance(name, str)})


def as_dict(record: Value) -> Value:
    """``dataclasses.asdict(record)``: the fields, with those of records among them."""
    if not isinstance(record, Instance) or not record.cls.is_dataclass or record.state.get("open"):
        return UNKNOWN
    return DictValue({name: _copied(record.slots.get(name, UNKNOWN)) for name in fields(record.cls)})


def _copied(value: Value) -> Value:
    """A copy of a field; what is in a container may be a record."""
    if isinstance(value, Instance):
        return as_dict(value)
    held = value.items if isinstance(value, ListValue) else value if isinstance(value, tuple) else ()
    nested = held is None or isinstance(value, DictValue) or any(isinstance(item, Ref) for item in held)
    return UNKNOWN if nested else copies.deep(value)


def make_named_tuple(
    interp: Interpreter, cls: ClassValue, args: tuple[Value, ...], kwargs: dict[str, Value], frame: Frame
) -> Value:
    """A tuple whose items have the names that its class gives them."""
    if interp.class_attribute(cls, "__new__") is not MISSING:
        return UNKNOWN
    found = _given(interp, cls, args, kwargs, frame)
    return NamedResult(tuple(found), tuple(found.values()), cls)


def named_tuple(interp: Interpreter, call: Arguments) -> Value:
    """``collections.namedtuple(name, fields)``, as a class with these fields."""
    name, given = call.get(0, "typename"), call.get(1, "field_names")
    names = tuple(given.replace(",", " ").split()) if isinstance(given, str) else None
    if names is None:
        names = interp.sequence(given, call.node, call.frame)
    if not isinstance(name, str) or names is None or not all(isinstance(one, str) for one in names):
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
    if isinstance(found, Function) and found.kind == "property":
        return interp.call_function(found, (owner,), {}, None, frame)
    if isinstance(found, Function) and found.kind == "function":
        return Bound(owner, found)
    return Bound(owner, name) if found is MISSING or is_unknown(found) else found


def _replaced(owner: NamedResult, call: Arguments) -> Value:
    items = tuple(call.kwargs.get(name, item) for name, item in zip(owner.fields, owner))
    return NamedResult(owner.fields, items, owner.of) if call.exact else UNKNOWN


def class_attribute(interp: Interpreter, cls: ClassValue, name: str, found: Value) -> Value:
    """An attribute of a class, where `found` stands in its body: what enums and named tuples make of it or add."""
    if is_enum(cls) and name in members(cls):
        return members(cls)[name]
    if found is MISSING and is_named_tuple(cls):
        if name == "_fields":
            return tuple(fields(cls))
        if name == "_make":
            return Builtin(name, lambda call: _made_of(interp, cls, call))
    return UNKNOWN if found is MISSING else found


def _made_of(interp: Interpreter, cls: ClassValue, call: Arguments) -> Value:
    items = interp.sequence(call.get(0, "iterable"), call.node, call.frame)
    return UNKNOWN if items is None else make_named_tuple(interp, cls, items, {}, call.frame)


# -- enums -----------------------------------------------------------------------------------------


def is_enum(cls: ClassValue) -> bool:
    return any(isinstance(base, Native) and base.path.startswith("enum.") for base in cls.mro())


def is_member(value: Value) -> bool:
    return isinstance(value, Instance) and is_enum(value.cls)


def members(cls: ClassValue) -> dict[str, Instance]:
    """The members of an enum by name, in order; they are made once."""
    if cls.members is None:
        cls.members = {}
        for name, value in cls.slots.items():
            if name.startswith("_") or isinstance(value, Function | Bound | ClassValue):
                continue
            made = Instance(cls)
            made.name = name
            if isinstance(value, LibraryObject) and value.path == "enum.auto":
                value = len(cls.members) + 1
            made.slots.update(name=name, value=value, _value_=value, _name_=name)
            cls.members[name] = made
    return cls.members


def member(interp: Interpreter, cls: ClassValue, args: tuple[Value, ...]) -> Value:
    """``Color("red")``: the member with that value."""
    plain = (str, int, float, bool)
    if len(args) == 1 and isinstance(args[0], plain):
        for one in members(cls).values():
            if isinstance(one.slots["value"], plain) and one.slots["value"] == args[0]:
                return one
    return args[0] if len(args) == 1 and is_member(args[0]) else UNKNOWN


def plain(value: Value) -> Value:
    """The number or text that a member of IntEnum, StrEnum or ``(str, Enum)`` is; any other value as it is."""
    if isinstance(value, Instance) and is_enum(value.cls):
        bases = {base.path for base in value.cls.mro() if isinstance(base, Native)}
        if bases & {"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.str", "builtins.int"}:
            return value.slots["value"]
    return value


__all__ = [
    "attribute",
    "class_attribute",
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
]

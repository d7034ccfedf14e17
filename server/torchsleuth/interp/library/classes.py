"""Classes of the user's: what Python calls when one is made, and what stands between an object and its attributes."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable

from torchsleuth.interp import exceptions, misuse, misuses, special
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import records
from torchsleuth.interp.misuses import Misuse
from torchsleuth.sifting import all_are, as_kind, of_kind
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
    Tensor,
    Value,
    is_module,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

_CONTAINERS = {"builtins.list": "list", "builtins.set": "set", "collections.deque": "deque"}
_DICTS = {
    "builtins.dict": "dict",
    "collections.OrderedDict": "OrderedDict",
    "collections.UserDict": "dict",
    "collections.defaultdict": "defaultdict",
    "collections.Counter": "Counter",
}
_NUMBERS = ("builtins.int", "builtins.str", "builtins.float")


# -- the making of classes -------------------------------------------------------------------------


def completed(interp: Interpreter, cls: ClassValue, keywords: dict[str, Value], frame: Frame) -> Value:
    """A class whose body was executed, as its metaclass and its bases leave it."""
    for name, value in list(cls.slots.items()):
        special.call(interp, value, "__set_name__", (cls, name), frame)
    metaclass = keywords.pop("metaclass", MISSING)
    inherited = next((base.metaclass for base in of_kind(cls.mro()[1:], ClassValue) if base.metaclass), None)
    metaclass = inherited if metaclass is MISSING else metaclass
    names, given = DictValue(dict(cls.slots)), keywords
    if isinstance(metaclass, ClassValue):
        cls.metaclass = metaclass
        keywords = _made_anew(interp, cls, metaclass, names, given, frame)
    if records.is_enum(cls):
        records.start_members(interp, cls, frame)
    if any(base.transforms for base in of_kind(cls.mro()[1:], ClassValue)):
        cls.is_dataclass = True
    hook = as_kind(
        next(
            (
                base.slots["__init_subclass__"]
                for base in of_kind(cls.mro()[1:], ClassValue)
                if "__init_subclass__" in base.slots
            ),
            None,
        ),
        Function,
    )
    if hook is not None:
        interp.call_function(hook, (cls,), keywords, None, frame)
    if isinstance(metaclass, ClassValue):
        starter = as_kind(interp.class_attribute(metaclass, "__init__"), Function)
        if starter is not None:
            interp.call_function(starter, (cls, cls.name, cls.bases, names), given, None, frame)
    return cls


def _made_anew(
    interp: Interpreter,
    cls: ClassValue,
    metaclass: ClassValue,
    names: DictValue,
    keywords: dict[str, Value],
    frame: Frame,
) -> dict[str, Value]:
    """Call ``__new__`` of a metaclass, which may give the class other names. The keywords that it passes on."""
    maker = as_kind(interp.class_attribute(metaclass, "__new__"), Function)
    if maker is None:
        return keywords
    passed: dict[str, Value] = {}
    interp.being_made.append((cls, passed))
    try:
        interp.call_function(maker, (metaclass, cls.name, cls.bases, names), dict(keywords), None, frame)
    finally:
        interp.being_made.pop()
    return passed


def made_by_type(interp: Interpreter, call: Arguments) -> Value:
    """``type(name, bases, names)``"""
    name, bases, names = call.args
    if not isinstance(name, str) or not isinstance(bases, tuple) or not isinstance(names, DictValue) or not names.items:
        if not (
            isinstance(names, DictValue) and names.items == {} and isinstance(name, str) and isinstance(bases, tuple)
        ):
            return UNKNOWN
    node = ast.copy_location(ast.ClassDef(name=name, bases=[], keywords=[], body=[], decorator_list=[]), call.node)
    cls = ClassValue(name, bases, node, call.frame.path)
    cls.slots.update({key: value for key, value in (names.items or {}).items() if isinstance(key, str)})
    for value in of_kind(cls.slots.values(), Function):
        if value.owner is None:
            value.owner = cls
    return completed(interp, cls, {}, call.frame)


def is_abstract(interp: Interpreter, cls: ClassValue) -> bool:
    """Whether a class has abstract methods left, so that it cannot be called."""
    natives = [base.path for base in of_kind(cls.mro(), Native)]
    if "abc.ABC" not in natives and not (cls.node.keywords and "ABCMeta" in ast.unparse(cls.node.keywords[-1].value)):
        return False
    names = {name for base in of_kind(cls.mro(), ClassValue) for name in base.slots}
    found = (interp.class_attribute(cls, name) for name in names)
    return any(
        isinstance(one, Function) and any("abstract" in ast.unparse(mark) for mark in one.node.decorator_list)
        for one in of_kind(found, Function)
        if isinstance(one.node, ast.FunctionDef)
    )


# -- objects that are containers by their base ---------------------------------------------------------


def fill_contents(interp: Interpreter, instance: Instance, call: Arguments) -> bool:
    """``super().__init__(…)`` of a class derived from list, dict or a like: whether it is one."""
    from torchsleuth.interp.library import dictionaries

    base = _container_base(instance.cls)
    if base is None:
        return False
    held: Value
    if base in _DICTS:
        factory = call.args[0] if base.endswith("defaultdict") and call.args else None
        made = dictionaries.construct(interp, call if factory is None else _without_first(call))
        if base.endswith(".UserDict") and isinstance(special.method(interp, instance, "__setitem__"), Function):
            return _put_one_by_one(interp, instance, made, call.frame)
        held = DictValue(made.entries, _DICTS[base], factory)
    else:
        items = interp.sequence(call.args[0], call.node, call.frame) if call.args else ()
        held = ListValue(items, _CONTAINERS[base])
    interp.heap.set(instance.slots, special.CONTENTS, held)
    return True


def _put_one_by_one(interp: Interpreter, instance: Instance, given: DictValue, frame: Frame) -> bool:
    """The entries of a UserDict, which its own ``__setitem__`` gets."""
    items = given.items
    interp.heap.set(instance.slots, special.CONTENTS, DictValue({} if items is not None else None))
    for key, value in (items or {}).items():
        special.call(interp, instance, "__setitem__", (key, value), frame)
    return True


def _without_first(call: Arguments) -> Arguments:
    from dataclasses import replace

    return replace(call, args=call.args[1:])


def _container_base(cls: ClassValue) -> str | None:
    natives = [base.path for base in of_kind(cls.mro(), Native)]
    return next((path for path in natives if path in _DICTS or path in _CONTAINERS), None)


def begin(interp: Interpreter, instance: Instance, args: tuple[Value, ...]) -> None:
    """The contents that ``__new__`` of the builtin base of a class gives a new object."""
    base = _container_base(instance.cls)
    if base in _DICTS:
        instance.slots[special.CONTENTS] = DictValue({}, _DICTS[base], 0 if base.endswith("Counter") else None)
    elif base is not None:
        instance.slots[special.CONTENTS] = ListValue((), _CONTAINERS[base])
    number = next((one.path for one in of_kind(instance.cls.mro(), Native) if one.path in _NUMBERS), None)
    if number is not None:
        kind = {"int": int, "str": str, "float": float}[number.removeprefix("builtins.")]
        given = as_kind(
            special.contents(args[0]) if args and isinstance(args[0], Instance) else args[0] if args else kind(),
            str,
            int,
            float,
        )
        if given is not None:
            with contextlib.suppress(ValueError):
                instance.slots[special.CONTENTS] = kind(given)


def item_of_contents(
    interp: Interpreter, owner: Instance, held: Value, key: Value, node: ast.AST, frame: Frame
) -> Value:
    """``self[key]`` of an object derived from a container."""
    if isinstance(held, DictValue) and held.items is not None and _is_missing(held, key):
        made = special.call(interp, owner, "__missing__", (key,), frame)
        if made is not special.ABSENT:
            return made
    return interp.get_item(held, key, node, frame)


def _is_missing(held: DictValue, key: Value) -> bool:
    from torchsleuth.interp.library import dictionaries

    return dictionaries.contains(held, key) is False


# -- attributes --------------------------------------------------------------------------------------


def got_through_class(interp: Interpreter, owner: Instance, name: str, found: Value, frame: Frame) -> Value:
    """An attribute that a property or a descriptor in the class gives; ABSENT for others."""
    if isinstance(found, Function) and found.kind == "property":
        if found.memo is None:
            return interp.call_function(found, (owner,), {}, None, frame)
        if name not in owner.slots:
            interp.heap.set(owner.slots, name, interp.call_function(found, (owner,), {}, None, frame))
        return owner.slots[name]
    getter = as_kind(special.method(interp, found, "__get__"), Function)
    if getter is not None:
        data = special.method(interp, found, "__set__") is not special.ABSENT
        if data or name not in owner.slots:
            return special.call(interp, found, "__get__", (owner, owner.cls), frame)
    return special.ABSENT


def set_through_class(
    interp: Interpreter, owner: Instance, name: str, value: Value, node: ast.AST, frame: Frame
) -> bool:
    """Whether the class of an object decides what happens when an attribute is set: ``__setattr__``, a property, a descriptor."""
    if _asks_class(interp, owner, "__setattr__", (name, value), node, frame):
        return True
    return set_by_descriptor(interp, owner, name, value, node, frame)


def _is_registered(value: Value) -> bool:
    """Whether a module takes a value for a part of its own before it asks its class: a parameter, a module, or what may be one."""
    return is_unknown(value) or is_module(value) or isinstance(value, Tensor)


def set_by_descriptor(
    interp: Interpreter, owner: Instance, name: str, value: Value, node: ast.AST, frame: Frame
) -> bool:
    found = interp.class_attribute(owner.cls, name)
    if isinstance(found, Function) and found.kind == "property":
        if isinstance(found.setter, Function):
            interp.call_function(found.setter, (owner, value), {}, None, frame)
        elif found.setter is None and found.memo is None and not (owner.is_module and _is_registered(value)):
            misuse.report(interp, Misuse(misuses.KIND, interp.site(node, frame), ("read_only", found)))
            exceptions.throw(interp, exceptions.made("builtins.AttributeError", (f"property {name!r} has no setter",)))
        return found.memo is None
    if isinstance(special.method(interp, found, "__set__"), Function):
        special.call(interp, found, "__set__", (owner, value), frame)
        return True
    if owner.cls.options.get("frozen") is True and owner.state.get("filled"):
        exceptions.throw(interp, exceptions.made(exceptions.FROZEN, (f"cannot assign to field {name!r}",)))
        return True
    return False


def _asks_class(
    interp: Interpreter, owner: Instance, method: str, args: tuple[Value, ...], node: ast.AST, frame: Frame
) -> bool:
    """Whether the class of an object has a ``__setattr__`` or ``__delattr__``, which is called: a function of its own or, as
    in ``__setattr__ = dict.__setitem__``, one of a builtin type."""
    own = interp.class_attribute(owner.cls, method)
    if owner.is_module or not isinstance(own, Function | Builtin):
        return False
    if isinstance(own, Function):
        interp.call_function(own, (owner, *args), {}, None, frame)
    else:
        own.call(Arguments((owner, *args), {}, node, frame))
    return True


def deleted_through_class(interp: Interpreter, owner: Instance, name: str, node: ast.AST, frame: Frame) -> bool:
    """Whether the class of an object decides what happens when an attribute is deleted: ``__delattr__``, a property, a
    descriptor; or there is none to delete."""
    if _asks_class(interp, owner, "__delattr__", (name,), node, frame):
        return True
    found = interp.class_attribute(owner.cls, name)
    if isinstance(found, Function) and found.kind == "property" and found.memo is None:
        if isinstance(found.deleter, Function):
            interp.call_function(found.deleter, (owner,), {}, None, frame)
        elif found.deleter is None:
            exceptions.throw(interp, exceptions.made("builtins.AttributeError", (name,)))
        else:
            interp.forget_attributes(owner)
        return True
    if isinstance(special.method(interp, found, "__delete__"), Function):
        special.call(interp, found, "__delete__", (owner,), frame)
        return True
    if lacks(interp, owner, name):
        exceptions.throw(interp, exceptions.made("builtins.AttributeError", (name,)))
        return True
    return False


def object_delattr(interp: Interpreter, call: Arguments) -> Value:
    """``object.__delattr__(self, name)``, ``super().__delattr__(name)``"""
    owner, name = call.args[-2:] if len(call.args) >= 2 else (UNKNOWN, UNKNOWN)
    if isinstance(owner, Instance) and isinstance(name, str) and name in owner.slots:
        interp.heap.set(owner.slots, name, MISSING)
    elif isinstance(owner, Instance):
        interp.heap.set(owner.state, "open", True)
    return None


def object_setattr(interp: Interpreter, call: Arguments) -> Value:
    """``object.__setattr__(self, name, value)``, ``super().__setattr__(name, value)``"""
    owner, name, value = call.args[-3:] if len(call.args) >= 3 else (UNKNOWN, UNKNOWN, UNKNOWN)
    match owner:
        case Instance() if isinstance(name, str):
            if not set_by_descriptor(interp, owner, name, value, call.node, call.frame):
                interp.heap.set(owner.slots, name, value)
        case Instance():
            interp.heap.set(owner.state, "open", True)
    return None


def function_attribute(owner: Function, name: str) -> Value:
    """``f.__name__`` and its like, and what was set on a function."""
    if name in owner.attributes:
        return owner.attributes[name]
    if name in ("__name__", "__qualname__"):
        return owner.name if name == "__name__" or owner.owner is None else f"{owner.owner.name}.{owner.name}"
    if name == "__doc__":
        return None if isinstance(owner.node, ast.Lambda) else ast.get_docstring(owner.node, clean=False)
    if name == "__defaults__":
        return owner.defaults or None
    if name == "__annotations__" and not isinstance(owner.node, ast.Lambda):
        spec = owner.node.args
        every = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg)
        names = [one.arg for one in every if one is not None and one.annotation is not None]
        return DictValue(dict.fromkeys([*names, *(["return"] if owner.node.returns is not None else [])], UNKNOWN))
    return UNKNOWN


def lacks(interp: Interpreter, owner: Instance, name: str) -> bool:
    """Whether an object is known not to have an attribute."""
    plain = owner.native is None and not owner.is_module and not owner.cls.opaque and not owner.state.get("open")
    plain = plain and owner.identity not in interp.trace.escaped
    known = plain and owner.cls.has_known_bases() and special.contents(owner) is None
    return known and name not in owner.slots and interp.class_attribute(owner.cls, "__getattr__") is MISSING


def asked_for(interp: Interpreter, owner: Instance, name: str, call: Arguments) -> Value:
    """An attribute of an object, ABSENT where asking for it raises AttributeError."""
    interp.catching.levels.append(interp.uncertain)
    interp.guarded += 1
    try:
        return interp.attribute(owner, name, call.node, call.frame)
    except exceptions.Thrown as thrown:
        found = exceptions.class_of(thrown.value)
        if found is None or not issubclass(found, AttributeError):
            raise
        return special.ABSENT
    finally:
        interp.guarded -= 1
        interp.catching.levels.pop()


def answers(interp: Interpreter, owner: Instance, name: str) -> bool:
    """Whether code of the class's own says what an attribute is, and whether there is one: a property, ``__getattr__``."""
    if owner.is_module or owner.cls.opaque:
        return False
    found = interp.class_attribute(owner.cls, name)
    if isinstance(found, Function) and found.kind == "property":
        return True
    missing = found is MISSING and name not in owner.slots and not is_plain_attribute(name)
    return missing and isinstance(interp.class_attribute(owner.cls, "__getattr__"), Function)


def is_plain_attribute(name: str) -> bool:
    """Whether every object has an attribute of this name."""
    return hasattr(object, name) or name == "__dict__"


def iterates(interp: Interpreter, owner: Instance) -> bool:
    return not owner.is_module and interp.class_attribute(owner.cls, "__iter__") is not MISSING


MAX_ITEMS = 256
"""Elements that are asked for by their numbers."""


def by_numbers(interp: Interpreter, owner: Instance, frame: Frame) -> tuple[Value, ...] | None:
    """The elements of an object that has ``__getitem__`` and no ``__iter__``: up to the first IndexError. None where that is
    not known."""
    if owner.is_module or owner.cls.opaque or not isinstance(special.method(interp, owner, "__getitem__"), Function):
        return None
    if special.method(interp, owner, "__iter__") is not special.ABSENT or owner.native is not None:
        return None
    found: list[Value] = []
    mark = interp.heap.mark()
    interp.catching.levels.append(interp.uncertain)
    try:
        while len(found) < MAX_ITEMS:
            value = special.call(interp, owner, "__getitem__", (len(found),), frame)
            if is_unknown(value):
                break
            found.append(value)
    except exceptions.Thrown as thrown:
        if exceptions.catches(Native("builtins.IndexError", "builtin"), thrown.value):
            return tuple(found)
    finally:
        interp.catching.levels.pop()
    interp.heap.rollback(mark)
    return None


REGISTERED = ("registered",)
"""The slot of an abstract class: the classes that were registered as derived from it."""


def registers(interp: Interpreter, cls: ClassValue) -> Value:
    """``cls.register`` of an abstract class."""

    def register(call: Arguments) -> Value:
        interp.heap.set(cls.slots, REGISTERED, (*cls.slots.get(REGISTERED, ()), call.first))
        return call.first

    return Builtin("register", register)


def is_virtual(interp: Interpreter, cls: Value, kind: ClassValue, frame: Frame) -> bool | None:
    """Whether a class is derived from an abstract one by being registered with it, or as its ``__subclasshook__`` says."""
    hooked = special.of_class(interp, kind, "__subclasshook__", (cls,), frame)
    if hooked is not special.ABSENT:
        declines = isinstance(hooked, Native) and hooked.name == "NotImplemented"
        if not declines:
            return interp.truth(hooked)
    registered = kind.slots.get(REGISTERED, ())
    if any(one is cls or (isinstance(cls, ClassValue) and one in cls.mro()) for one in registered):
        return True
    return None if any(map(is_unknown, registered)) else False


def is_subclass(interp: Interpreter, cls: Value, kind: Value, frame: Frame) -> bool | None:
    """``issubclass(cls, kind)``"""
    if isinstance(cls, ClassValue) and isinstance(kind, ClassValue):
        if kind in cls.mro():
            return True
        virtual = is_virtual(interp, cls, kind, frame)
        return None if cls.opaque and not virtual else virtual
    one, other = exceptions.class_of(cls), exceptions.class_of(kind)
    if one is not None and other is not None and not isinstance(kind, ClassValue):
        return issubclass(one, other)
    if isinstance(cls, ClassValue) and isinstance(kind, Native):
        if cls.derives_from(kind.path):
            return True
        return False if not cls.opaque and all_are(cls.mro(), ClassValue) else None
    return None


_METHODS = {
    "Iterable": "__iter__",
    "Sized": "__len__",
    "Callable": "__call__",
    "Hashable": "__hash__",
    "Container": "__contains__",
}


def is_abstract_collection(interp: Interpreter, value: Instance, path: str) -> bool | None:
    """``isinstance(value, Iterable)`` of an object of the user's."""
    name = _METHODS.get(path.rpartition(".")[2])
    if value.cls.derives_from(path):
        return True
    return None if name is None or value.is_module else interp.class_attribute(value.cls, name) is not MISSING or None


def is_protocol(cls: ClassValue) -> bool:
    return any(base.path.endswith(".Protocol") for base in of_kind(cls.bases, Native))


def fits_protocol(interp: Interpreter, value: Value, cls: ClassValue) -> bool | None:
    """Whether a value has the methods of a protocol that is checked at run time."""
    names = [name for name, one in cls.slots.items() if isinstance(one, Function)]
    match value:
        case None | str() | int() | float() | tuple():
            return all(hasattr(value, name) for name in names)
        case Instance() if not value.cls.opaque:
            return all(interp.class_attribute(value.cls, name) is not MISSING for name in names) or None
    return None


_OBJECT = Native("builtins.object", "builtin")


def of_class(interp: Interpreter, cls: ClassValue, name: str) -> Value:
    """An attribute that every class has; ABSENT for other names."""
    if name == "__members__" and not records.is_enum(cls):
        return special.ABSENT
    found = _OF_CLASS.get(name)
    return special.ABSENT if found is None else found(interp, cls)


def of_metaclass(interp: Interpreter, cls: ClassValue, metaclass: ClassValue, name: str, frame: Frame) -> Value:
    """An attribute that a class has from its metaclass, as an object has it from its class; ABSENT for others."""
    found = interp.class_attribute(metaclass, name)
    if found is MISSING:
        return special.ABSENT
    if not isinstance(found, Function) or found.kind == "staticmethod":
        return found
    if found.kind == "property":
        return interp.call_function(found, (cls,), {}, None, frame)
    return Bound(metaclass if found.kind == "classmethod" else cls, found)


def asked_of_metaclass(interp: Interpreter, cls: Value, name: str, args: tuple[Value, ...], frame: Frame) -> Value:
    """The result of a special method that the metaclass of a class has: ``len(cls)``, ``x in cls``; ABSENT for others."""
    metaclass = cls.metaclass if isinstance(cls, ClassValue) else None
    found = as_kind(interp.class_attribute(metaclass, name) if metaclass is not None else MISSING, Function)
    return special.ABSENT if found is None else interp.call_function(found, (cls, *args), {}, None, frame)


def _subclasses(interp: Interpreter, cls: ClassValue) -> Value:
    found = tuple(one for one in interp.classes if cls in one.bases)
    return Builtin("__subclasses__", lambda call: ListValue(found))


_OF_CLASS: dict[str, Callable[[Interpreter, ClassValue], Value]] = {
    "__mro__": lambda interp, cls: (*cls.mro(), _OBJECT),
    "mro": lambda interp, cls: Builtin("mro", lambda call: ListValue((*cls.mro(), _OBJECT))),
    "__dict__": lambda interp, cls: DictValue({name: one for name, one in cls.slots.items() if isinstance(name, str)}),
    "__bases__": lambda interp, cls: cls.bases or (_OBJECT,),
    "__doc__": lambda interp, cls: ast.get_docstring(cls.node, clean=False) if cls.node.body else None,
    "__members__": lambda interp, cls: DictValue(dict(records.members(cls))),
    "__subclasses__": _subclasses,
    "register": lambda interp, cls: registers(interp, cls) if cls.derives_from("abc.ABC") else special.ABSENT,
}


def of_super(interp: Interpreter, receiver: Value, cls: ClassValue, name: str) -> Value:
    """The attribute that ``super()`` finds in the builtin base of a class; ABSENT for other names."""
    if (found := _OF_OBJECT.get(name, _absent)(interp, receiver, cls)) is not special.ABSENT:
        return found
    held = special.contents(receiver)
    if held is None:
        return _of_metaclass(interp, receiver, name)
    return _OF_CONTENTS.get(name, lambda interp, receiver, held: Bound(held, name))(interp, receiver, held)


def _absent(interp: Interpreter, receiver: Value, cls: ClassValue) -> Value:
    return special.ABSENT


def _init_subclass(interp: Interpreter, receiver: Value, cls: ClassValue) -> Value:
    return Builtin("__init_subclass__", lambda call: None)


def _setattr(interp: Interpreter, receiver: Value, cls: ClassValue) -> Value:
    if not isinstance(receiver, Instance) or receiver.is_module:
        return special.ABSENT
    return Builtin("__setattr__", lambda call: object_setattr(interp, _with(call, receiver)))


def _delattr(interp: Interpreter, receiver: Value, cls: ClassValue) -> Value:
    if not isinstance(receiver, Instance) or receiver.is_module:
        return special.ABSENT
    return Builtin("__delattr__", lambda call: object_delattr(interp, _with(call, receiver)))


def object_getattribute(interp: Interpreter, call: Arguments) -> Value:
    """``object.__getattribute__(self, name)``, ``super().__getattribute__(name)``: what the object has, whatever its own class does
    when an attribute is read."""
    owner, name = call.args[-2:] if len(call.args) >= 2 else (UNKNOWN, UNKNOWN)
    if not isinstance(owner, Instance) or not isinstance(name, str):
        return UNKNOWN
    return interp.own_attribute(owner, name, call.node, call.frame)


def _getattribute(interp: Interpreter, receiver: Value, cls: ClassValue) -> Value:
    if not isinstance(receiver, Instance):
        return special.ABSENT
    return Builtin("__getattribute__", lambda call: object_getattribute(interp, _with(call, receiver)))


def _new(interp: Interpreter, receiver: Value, cls: ClassValue) -> Value:
    is_metaclass = cls.derives_from("builtins.type", "abc.ABCMeta")
    return Builtin("super().__new__", lambda call: _made_by_metaclass(interp, call)) if is_metaclass else special.ABSENT


_OF_OBJECT: dict[str, Callable[[Interpreter, Value, ClassValue], Value]] = {
    "__init_subclass__": _init_subclass,
    "__setattr__": _setattr,
    "__getattribute__": _getattribute,
    "__delattr__": _delattr,
    "__new__": _new,
}


def _init_of_contents(interp: Interpreter, receiver: Value, held: Value) -> Value:
    if not isinstance(receiver, Instance):
        return Bound(held, "__init__")
    return Builtin("__init__", lambda call: None if fill_contents(interp, receiver, call) else None)


def _set_item_of_contents(interp: Interpreter, receiver: Value, held: Value) -> Value:
    def put(call: Arguments) -> None:
        if len(call.args) == 2 and isinstance(call.node, ast.expr):
            interp.set_item(held, call.args[0], call.args[1], call.node, call.frame)

    return Builtin("__setitem__", put)


def _get_item_of_contents(interp: Interpreter, receiver: Value, held: Value) -> Value:
    if not isinstance(receiver, Instance):
        return Bound(held, "__getitem__")
    return Builtin(
        "__getitem__", lambda call: item_of_contents(interp, receiver, held, call.args[0], call.node, call.frame)
    )


_OF_CONTENTS: dict[str, Callable[[Interpreter, Value, Value], Value]] = {
    "__init__": _init_of_contents,
    "__setitem__": _set_item_of_contents,
    "__getitem__": _get_item_of_contents,
}


_MAPPINGS = frozenset(
    f"{module}.{name}" for module in ("collections.abc", "typing") for name in ("Mapping", "MutableMapping")
)


def of_mapping(interp: Interpreter, owner: Instance, name: str) -> Value:
    """The method that a class has from ``collections.abc.Mapping``, whose items are those of its ``__getitem__``."""
    if name != "get" or not owner.cls.derives_from(*_MAPPINGS):
        return UNKNOWN

    def get(call: Arguments) -> Value:
        interp.catching.levels.append(interp.uncertain)
        try:
            return special.call(interp, owner, "__getitem__", (call.given(0, "key"),), call.frame)
        except exceptions.Thrown as thrown:
            if exceptions.class_of(thrown.value) is not KeyError:
                raise
            return call.given(1, "default")
        finally:
            interp.catching.levels.pop()

    return Builtin("get", get)


def _with(call: Arguments, receiver: Value) -> Arguments:
    from dataclasses import replace

    return replace(call, args=(receiver, *call.args))


def _made_by_metaclass(interp: Interpreter, call: Arguments) -> Value:
    """``super().__new__(mcs, name, bases, namespace)``: the class is there already, with the names that it is given here."""
    names = as_kind(call.args[3] if len(call.args) > 3 else UNKNOWN, DictValue)
    pending, passed = interp.being_made[-1] if interp.being_made else (None, {})
    if pending is None:
        return made_by_type(interp, _without_first(call)) if len(call.args) == 4 else UNKNOWN
    if names is not None and names.items is not None:
        for name, value in names.items.items():
            if pending.slots.get(name, MISSING) is not value:
                interp.heap.set(pending.slots, name, value)
    passed.update(call.kwargs)
    return pending


def _of_metaclass(interp: Interpreter, receiver: Value, name: str) -> Value:
    """``super().__call__(…)`` and ``super().__init__(…)`` in a metaclass."""
    if not isinstance(receiver, ClassValue) or receiver.metaclass is None:
        return special.ABSENT
    if name == "__call__":
        return Builtin(name, lambda call: interp.instantiate(receiver, call.args, call.kwargs, None, call.frame))
    return Builtin(name, lambda call: None) if name == "__init__" else special.ABSENT


def called_through_metaclass(interp: Interpreter, cls: ClassValue, call: Arguments) -> Value:
    """A call of a class whose metaclass has a ``__call__`` of its own, or of a TypedDict; ABSENT for other classes."""
    from torchsleuth.interp.library import dictionaries

    if any(base.path.endswith(".TypedDict") for base in of_kind(cls.mro(), Native)):
        return dictionaries.construct(interp, call)
    own = as_kind(interp.class_attribute(cls.metaclass, "__call__") if cls.metaclass is not None else MISSING, Function)
    if own is None:
        return special.ABSENT
    return interp.call_function(own, (cls, *call.args), call.kwargs, None, call.frame)


def class_of(value: Value) -> Value:
    """The class of an exception."""
    if isinstance(value, Instance):
        return value.cls
    return Native(value.path, "builtin") if isinstance(value, LibraryObject) else UNKNOWN

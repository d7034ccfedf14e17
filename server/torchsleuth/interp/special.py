"""Special methods of the user's classes: what operators, comparisons, ``len()`` and ``str()`` call."""

from __future__ import annotations

from typing import Any

from torchsleuth.interp.interface import Interpreter
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    Value,
    is_plain,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

ABSENT: Any = MISSING
"""There is no such method, or it declines: ``NotImplemented``."""
_REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def method(interp: Interpreter, owner: Value, name: str) -> Value:
    """A special method that the class of an object has, ABSENT where it has none."""
    if not isinstance(owner, Instance):
        return ABSENT
    found = interp.class_attribute(owner.cls, name)
    return UNKNOWN if found is MISSING and owner.cls.opaque else found


def call(interp: Interpreter, owner: Value, name: str, args: tuple[Value, ...], frame: Frame) -> Value:
    """The result of a special method, ABSENT where there is none or it declines, UNKNOWN where that is not known."""
    found = method(interp, owner, name)
    if not isinstance(found, Function):
        return found if found is ABSENT or is_unknown(found) else UNKNOWN
    made = interp.call_function(found, (owner, *args), {}, None, frame)
    return ABSENT if isinstance(made, Native) and made.name == "NotImplemented" else made


def contents(value: Value) -> ListValue | DictValue | str | int | float | None:
    """The contents of an object of a class derived from list, dict, str or int."""
    held = value.slots.get(CONTENTS) if isinstance(value, Instance) else None
    return held if isinstance(held, ListValue | DictValue | str | int | float) else None


CONTENTS = ("contents",)
"""The slot of what an object is by its builtin base: no name of an attribute."""


def binary(interp: Interpreter, name: str, left: Value, right: Value, frame: Frame, inplace: bool) -> Value:
    """``left + right`` and its like, where one of the two is an object of the user's; ABSENT where no method takes it."""
    plain = name.rstrip("_")
    tries = [(left, f"__{plain}__", right), (right, f"__r{plain}__", left)]
    if inplace:
        tries.insert(0, (left, f"__i{plain}__", right))
    if _derives(right, left) and method(interp, right, f"__r{plain}__") is not method(interp, left, f"__r{plain}__"):
        tries.reverse()
    for owner, called, other in tries:
        made = call(interp, owner, called, (other,), frame)
        if made is not ABSENT:
            return made
    return ABSENT


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "** or pow()", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip


def refusal(interp: Interpreter, name: str, left: Value, right: Value, inplace: bool) -> str | None:
    """Python's message about an operator that no method of the two takes; None where one of a builtin type may."""
    sides = _kind(interp, left), _kind(interp, right)
    if None in sides or name not in _SIGNS or (name == "mod" and isinstance(left, str)):
        return None
    if name == "mul" and isinstance(left, str) != isinstance(right, str):
        return f"can't multiply sequence by non-int of type {sides[isinstance(left, str)]!r}"
    if name == "add" and isinstance(left, str):
        return f'can only concatenate str (not "{sides[1]}") to str'
    sign = _SIGNS[name]
    sign = ("**" if name == "pow" else sign) + "=" if inplace else sign
    return f"unsupported operand type(s) for {sign}: {sides[0]!r} and {sides[1]!r}"


def _kind(interp: Interpreter, value: Value) -> str | None:
    """The type of a plain value, or of an object that is nothing beside what its class says; None for others."""
    if is_plain(value):
        return type(value).__name__
    if not isinstance(value, Instance) or value.cls.opaque or of_kind(value.cls.mro(), Native):
        return None
    return value.cls.name if method(interp, value, "__index__") is ABSENT else None


def _derives(one: Value, other: Value) -> bool:
    if not isinstance(one, Instance) or not isinstance(other, Instance):
        return False
    return one.cls is not other.cls and other.cls in one.cls.mro()


def compared(interp: Interpreter, name: str, left: Value, right: Value, frame: Frame) -> Value:
    """A comparison of which one side is an object of the user's; ABSENT where no method takes it."""
    for owner, called, other in ((left, name, right), (right, _REFLECTED[name], left)):
        made = call(interp, owner, f"__{called}__", (other,), frame)
        if made is ABSENT and called == "ne":
            same = call(interp, owner, "__eq__", (other,), frame)
            truth = None if same in (ABSENT, UNKNOWN) else interp.truth(same)
            made = same if same in (ABSENT, UNKNOWN) else UNKNOWN if truth is None else not truth
        if made is ABSENT:
            made = _ordered(interp, name if owner is left else called, owner, other, frame)
        if made is not ABSENT:
            return made
    if name in ("eq", "ne") and any(isinstance(method(interp, side, "__eq__"), Function) for side in (left, right)):
        return (left is right) == (name == "eq")  # Both decline.
    return ABSENT


_ROOTS = ("lt", "gt", "le", "ge")


def _ordered(interp: Interpreter, name: str, owner: Value, other: Value, frame: Frame) -> Value:
    """The addition of ``functools.total_ordering``: the comparison by the one that the class defines."""
    if not isinstance(owner, Instance) or not owner.cls.slots.get(TOTAL) or name not in _ROOTS:
        return ABSENT
    root = next((one for one in _ROOTS if method(interp, owner, f"__{one}__") is not ABSENT), None)
    if root is None:
        return ABSENT
    verdict = interp.truth(call(interp, owner, f"__{root}__", (other,), frame))
    same = interp.truth(call(interp, owner, "__eq__", (other,), frame))
    if verdict is None or same is None:
        return UNKNOWN
    less = (verdict and not same) if root in ("lt", "le") else not verdict and not same
    return {"lt": less, "le": less or same, "gt": not less and not same, "ge": not less}[name]


TOTAL = ("total_ordering",)


def length(interp: Interpreter, value: Value, frame: Frame) -> Value:
    return call(interp, value, "__len__", (), frame)


def text(interp: Interpreter, value: Value, how: str, frame: Frame) -> Value:
    """``str(value)`` or ``repr(value)`` of an object of the user's; ABSENT for other values."""
    match value:
        case LibraryObject() if "args" in value.slots:
            return _message(value, how)
        case LibraryObject():
            made = interp.shown_record(value, how, frame)
            return interp.text_of_path(value) if made is ABSENT and how == "__str__" else made
    if not isinstance(value, Instance):
        return ABSENT
    if (made := call(interp, value, how, (), frame)) is not ABSENT:
        return made
    if any(base.path.startswith("enum.") for base in of_kind(value.cls.mro(), Native)):
        return interp.shown_record(value, how, frame)  # not what its own `__repr__` says
    if how == "__str__" and (made := call(interp, value, "__repr__", (), frame)) is not ABSENT:
        return made
    held = contents(value)
    if held is not None:
        return interp.shown(held, how, frame)
    made = interp.shown_record(value, how, frame)
    if made is not ABSENT:
        return made
    if isinstance(value.native, LibraryObject):
        return text(interp, value.native, how, frame)
    return UNKNOWN


def _message(error: LibraryObject, how: str) -> Value:
    """The text of an exception."""
    args = as_kind(error.slots["args"], tuple)
    if args is None or not all(is_plain(one) for one in args):
        return UNKNOWN
    if how == "__repr__":
        return f"{error.type_name}({', '.join(map(repr, args))})"
    if len(args) == 1:
        return repr(args[0]) if error.type_name == "KeyError" else str(args[0])
    return str(args) if args else ""


def of_class(interp: Interpreter, cls: ClassValue, name: str, args: tuple[Value, ...], frame: Frame) -> Value:
    """The result of a class method that Python calls by itself, such as ``__class_getitem__``."""
    found = interp.class_attribute(cls, name)
    function = as_kind(found.function if isinstance(found, Bound) else found, Function)
    if function is None:
        return ABSENT
    return interp.call_function(function, (cls, *args), {}, None, frame)

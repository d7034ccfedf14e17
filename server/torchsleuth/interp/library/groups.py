"""Groups of exceptions, and what ``except*`` takes of them."""

from __future__ import annotations

from torchsleuth.interp import exceptions
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.models import Model, method, models
from torchsleuth.values import UNKNOWN, LibraryObject, ListValue, Value, is_object, is_unknown

PATHS = ("builtins.ExceptionGroup", "builtins.BaseExceptionGroup")


class Undecided(Exception):
    """Whether an exception of a group is taken is not known."""


def made(path: str, message: Value, parts: tuple[Value, ...] | None) -> LibraryObject:
    """``ExceptionGroup(message, parts)``"""
    value = exceptions.made(path, (message, UNKNOWN if parts is None else ListValue(parts)))
    value.slots["message"] = message
    value.slots["exceptions"] = UNKNOWN if parts is None else parts
    return value


def split(value: Value, kind: Value) -> tuple[Value, Value]:
    """The part of an exception that ``except* kind`` takes, and what is left of it: None where there is none."""
    verdict = exceptions.catches(kind, value)
    if verdict:
        return value, None
    if not is_object(value, *PATHS):
        if verdict is None:
            raise Undecided
        return None, value
    parts = value.slots["exceptions"]
    if not isinstance(parts, tuple):
        raise Undecided
    divided = [split(part, kind) for part in parts]
    taken = tuple(one for one, _ in divided if one is not None)
    left = tuple(one for _, one in divided if one is not None)
    message = value.slots["message"]
    return (
        made(value.path, message, taken) if taken else None,
        made(value.path, message, left) if left else None,
    )


def taken(value: Value, kind: Value) -> tuple[Value, Value]:
    """The group that a handler with a star gets, and what goes on to the next."""
    if is_unknown(value):
        raise Undecided
    one, left = split(value, kind)
    if one is not None and not is_object(one, *PATHS):
        one = made(PATHS[0], "", (one,))
    return one, left


@models(*PATHS)
class Group(Model):
    """A group of exceptions."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        parts = interp.sequence(call.given(1, "exceptions"), call.node, call.frame)
        return made(call.path, call.given(0, "message"), parts)

    @method("split", "subgroup")
    def parts(self, call: Arguments) -> Value:
        try:
            one, left = split(self.value, call.first)
        except Undecided:
            return UNKNOWN
        return (one, left) if self.name == "split" else one


__all__ = ["PATHS", "Undecided", "made", "split", "taken"]

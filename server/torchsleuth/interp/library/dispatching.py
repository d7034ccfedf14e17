"""``functools.singledispatch``: functions that are chosen by the type of their first argument."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.models import Model, method, models
from torchsleuth.values import UNKNOWN, Builtin, Function, LibraryObject, Value

DISPATCHER = "functools.singledispatch"


def made(function: Value) -> LibraryObject:
    value = LibraryObject(DISPATCHER, (), {}, None)
    value.slots["functions"] = ((None, function),)
    return value


@models(DISPATCHER)
class Dispatcher(Model):
    """A function that was made by ``singledispatch``."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        return made(call.args[0]) if len(call.args) == 1 else UNKNOWN

    @method
    def register(self, call: Arguments) -> Value:
        return _register(self.interp, self.value, call)

    def other(self, call: Arguments) -> Value:
        return UNKNOWN

    def called(self, call: Arguments) -> Value:
        return self.interp.call(_chosen(self.interp, self.value, call), call)


def _register(interp: Interpreter, receiver: LibraryObject, call: Arguments) -> Value:
    """``@f.register(int)``, ``@f.register`` above a function with an annotation, or ``f.register(int, g)``"""
    if not call.args or not call.exact:
        return _lost(interp, receiver)

    def add(kind: Value, function: Value) -> Value:
        interp.heap.set(receiver.slots, "functions", (*receiver.slots["functions"], (kind, function)))
        return function

    first = call.args[0]
    if isinstance(first, Function):
        spec = first.node.args.args
        written = spec[0].annotation if spec else None
        return add(interp.eval(written, call.frame), first) if written is not None else _lost(interp, receiver)
    if len(call.args) > 1:
        return add(first, call.args[1])
    return Builtin("register", lambda inner: add(first, inner.first))


def _lost(interp: Interpreter, receiver: LibraryObject) -> Value:
    interp.heap.set(receiver.slots, "functions", ((UNKNOWN, UNKNOWN),))
    return UNKNOWN


def _chosen(interp: Interpreter, receiver: LibraryObject, call: Arguments) -> Value:
    """The function that a call of one is a call of: the last that fits, as long as no two of them do."""
    from torchsleuth.interp.library import python

    (_, default), *others = receiver.slots["functions"]
    value = call.first
    verdicts = [(python.is_instance(interp, value, kind), function) for kind, function in others]
    fitting = [function for verdict, function in verdicts if verdict]
    if any(verdict is None for verdict, _ in verdicts) or len(fitting) > 1:
        exact = [function for kind, function in others if interp.identical(interp.class_of(value), kind)]
        return exact[-1] if exact else UNKNOWN
    return fitting[0] if fitting else default


__all__ = ["DISPATCHER", "made"]

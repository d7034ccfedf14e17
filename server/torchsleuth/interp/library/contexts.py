"""Context managers that are entered by a call, or around one: ``ExitStack``, and managers used as decorators."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from torchsleuth.interp import exceptions, special, streams
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import classes, python
from torchsleuth.interp.models import Model, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.values import (
    UNKNOWN,
    Builtin,
    Function,
    Instance,
    LibraryObject,
    Managed,
    Value,
    is_object,
    is_unknown,
)
from torchsleuth.values.join import options

STACK = "contextlib.ExitStack"
_NO_ERROR = (None, None, None)


@models(STACK)
class Stack(Model):
    """A callback on a stack is called when that is left, the last first."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        made = LibraryObject(STACK, (), {}, interp.site(call.node, call.frame))
        made.slots["left"] = ()
        return made

    @method
    def callback(self, call: Arguments) -> Value:
        if not call.args:
            return self.other(call)
        interp, (function, *args), kwargs = self.interp, call.args, call.kwargs

        def act(inner: Arguments) -> Value:
            interp.call(function, replace(inner, args=tuple(args), kwargs=kwargs))
            return None

        self._put(Builtin("callback", act))
        return function

    @method
    def enter_context(self, call: Arguments) -> Value:
        if not call.args:
            return self.other(call)
        entered, leave = enter(self.interp, call.args[0], call)
        self._put(leave)
        return entered

    @method
    def pop_all(self, call: Arguments) -> Value:
        made = LibraryObject(STACK, (), {}, self.interp.site(call.node, call.frame))
        made.slots["left"] = _on_stack(self.value)
        self.interp.heap.set(self.value.slots, "left", ())
        return made

    @method
    def close(self, call: Arguments) -> Value:
        unwind(self.interp, self.value, call)
        return None

    def other(self, call: Arguments) -> Value:
        self._put(UNKNOWN)
        return super().other(call)

    def _put(self, action: Value) -> None:
        self.interp.heap.set(self.value.slots, "left", (*_on_stack(self.value), action))


def _on_stack(receiver: LibraryObject) -> tuple[Value, ...]:
    """The calls that are made when a stack is left, the first entered first. Where branches entered different ones: what all of them did, and
    an unknown one."""
    found = receiver.slots["left"]
    if isinstance(found, tuple):
        return found
    ways = [way for way in options(found) if isinstance(way, tuple)]
    common = takewhile(lambda actions: all(action is actions[0] for action in actions), zip(*ways, strict=False))
    return (*(actions[0] for actions in common), UNKNOWN)


def unwind(interp: Interpreter, receiver: LibraryObject, call: Arguments, raised: Value = None) -> bool:
    """Leave a stack. `raised`: the exception that it is left by, which each of those on it sees. Whether one of them keeps it."""
    pending = raised
    for action in reversed(_on_stack(receiver)):
        known = pending is not None and exceptions.is_exception(pending)
        given = _NO_ERROR if pending is None else (classes.class_of(pending) if known else UNKNOWN, pending, UNKNOWN)
        kept = interp.call(action, replace(call, args=given, kwargs={}))
        if pending is not None and interp.truth(kept):
            pending = None
    interp.heap.set(receiver.slots, "left", ())
    return raised is not None and pending is None


def enter(interp: Interpreter, manager: Value, call: Arguments) -> tuple[Value, Value]:
    """The result of entering a manager, and the function that leaves it."""
    match manager:
        case Instance():
            entered = special.call(interp, manager, "__enter__", (), call.frame)
            leave = Builtin(
                "__exit__",
                lambda inner: special.call(interp, manager, "__exit__", inner.args or _NO_ERROR, inner.frame),
            )
            return (UNKNOWN, UNKNOWN) if entered is special.ABSENT else (entered, leave)
        case Managed():
            made = as_kind(interp.started(manager, call.frame), streams.Stream)
            if made is not None:
                entered = streams.following(interp, made)
                return entered, Builtin("__exit__", lambda inner: _left(interp, manager, made, inner))
    interp.escape((manager,))
    if is_object(manager, STACK):
        return manager, Builtin(
            "__exit__",
            lambda inner: unwind(interp, manager, inner, inner.args[1] if len(inner.args) > 1 else None),
        )

    def leave_library(inner: Arguments) -> Value:
        kinds, raised = python.suppressed(manager), inner.args[1] if len(inner.args) > 1 else None
        python.left(interp, manager, inner.node, inner.frame)
        return kinds is not None and raised is not None and exceptions.catches(kinds, raised) is not False

    return python.entered(interp, manager), Builtin("__exit__", leave_library)


def _left(interp: Interpreter, manager: Managed, generator: streams.Stream, call: Arguments) -> Value:
    """Leave a manager that is written as a generator: whether it keeps the exception that it is left by."""
    raised = call.args[1] if len(call.args) > 1 else None
    if raised is None:
        streams.following(interp, generator, (None,))
        return None
    if is_unknown(raised):
        interp.forget_captured(manager.function)
        return UNKNOWN
    interp.catching.levels.append(interp.uncertain)
    try:
        streams.throw(interp, generator, raised)
    except exceptions.Thrown as thrown:
        if exceptions.class_of(thrown.value) is StopIteration:
            return True
        if thrown.value is not raised:
            raise
        return False
    finally:
        interp.catching.levels.pop()
    return UNKNOWN


def decorates(manager: Instance) -> bool:
    """Whether a context manager of the user's is a decorator, too."""
    return manager.cls.derives_from("contextlib.ContextDecorator")


def around(interp: Interpreter, manager: Value, function: Value) -> Value:
    """A function that is called inside of a context manager."""

    def run(call: Arguments) -> Value:
        _, leave = enter(interp, manager, call)
        value = interp.call(function, call)
        interp.call(leave, replace(call, args=(), kwargs={}))
        return value

    name = function.name if isinstance(function, Function) else "decorated"
    return Builtin(name, run)


__all__ = ["STACK", "around", "decorates", "enter", "unwind"]

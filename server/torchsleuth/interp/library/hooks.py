"""Hooks: functions of the user's that modules, tensors and backward passes call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.models import Result, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.callbacks import CALLED_WITH
from torchsleuth.values import (
    UNKNOWN,
    AnyModule,
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    Tensor,
    Value,
    tuple_of,
)

HANDLE = "torch.utils.hooks.RemovableHandle"
BEFORE, AFTER, BACKWARD = "register_forward_pre_hook", "register_forward_hook", "register_full_backward_hook"
KINDS = frozenset({BEFORE, AFTER, BACKWARD})
MAX_PENDING = 32
"""Hooks that wait for a backward pass; those of the latest forward calls."""


def register(interp: Interpreter, module: AnyModule, kind: str, call: Arguments) -> LibraryObject:
    """``module.register_forward_hook(hook)`` and its like."""
    handle = LibraryObject(HANDLE, (module,), {}, interp.site(call.node, call.frame))
    with_kwargs = interp.truth(call.kwargs.get("with_kwargs", False))
    if with_kwargs is not None:
        given = CALLED_WITH[kind]
        misuse.takes(interp, call, (*given[:2], "kwargs", *given[2:]) if with_kwargs else given)
    entry = (kind, call.given(0, "hook", UNKNOWN), with_kwargs, handle)
    interp.hooked = True
    interp.heap.set(module.state, "hooks", (*_of(module), entry))
    return handle


@models(HANDLE)
class Handle(Result):
    """The result of registering a hook."""

    @method
    def remove(self, call: Arguments) -> Value:
        module = as_kind(self.value.given(0, "module"), LibraryModule, Instance)
        if module is not None:
            kept = tuple(entry for entry in _of(module) if entry[3] is not self.value)
            self.interp.heap.set(module.state, "hooks", kept)
        return None

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


def _of(module: AnyModule) -> tuple[tuple[str, Value, bool | None, LibraryObject], ...]:
    found = as_kind(module.state.get("hooks", ()), tuple)
    return found if found is not None else ()


def functions(value: Value) -> Iterator[Value]:
    """The hooks of a module and of those below it."""
    for part in descendants(value):
        for _, function, _, _ in _of(part):
            yield function


def before(interp: Interpreter, module: AnyModule, call: Arguments) -> Arguments:
    """The arguments that a module is called with, after its forward_pre_hooks."""
    for kind, function, with_kwargs, _ in _of(module):
        if kind != BEFORE:
            continue
        more = (DictValue(dict(call.kwargs)),) if with_kwargs else ()
        made = interp.call(function, replace(call, args=(module, call.args, *more), kwargs={}))
        if isinstance(made, tuple) and with_kwargs and len(made) == 2:
            args, kwargs = made
            known = isinstance(args, tuple) and isinstance(kwargs, DictValue) and kwargs.items is not None
            call = replace(call, args=args, kwargs=kwargs.items) if known else replace(call, args=(UNKNOWN,))
        elif made is not None:
            call = replace(call, args=tuple_of(made))
    return call


def after(interp: Interpreter, module: AnyModule, call: Arguments, value: Value) -> Value:
    """The result of a call of a module, after its forward hooks."""
    for kind, function, with_kwargs, _ in _of(module):
        if kind == AFTER:
            more = (DictValue(dict(call.kwargs)),) if with_kwargs else ()
            made = interp.call(function, replace(call, args=(module, call.args, *more, value), kwargs={}))
            value = value if made is None else made
        elif kind == BACKWARD:
            grads = tuple(_grad_of(item) for item in call.args)
            outer = tuple(_grad_of(item) for item in tuple_of(value))
            later(interp, function, replace(call, args=(module, grads, outer), kwargs={}))
    return value


def _grad_of(value: Value) -> Value:
    if not isinstance(value, Tensor):
        return UNKNOWN
    return (
        Tensor(value.spec.with_(requires_grad=False, strides=None)) if value.spec.requires_grad is not False else None
    )


def on_tensor(interp: Interpreter, tensor: Tensor, name: str, call: Arguments) -> LibraryObject:
    """``tensor.register_hook(hook)``, and ``register_post_accumulate_grad_hook``, which is given the tensor itself."""
    misuse.takes(interp, call, CALLED_WITH[name])
    given = Tensor(interp.resolved_spec(tensor.spec).with_(requires_grad=False, strides=None))
    subject = given if name == "register_hook" else tensor
    later(interp, call.given(0, "hook", UNKNOWN), replace(call, args=(subject,), kwargs={}))
    return LibraryObject(HANDLE, (tensor,), {}, interp.site(call.node, call.frame))


def later(interp: Interpreter, function: Value, call: Arguments) -> None:
    """Call a function in the backward passes that follow."""
    key = (getattr(function, "node", None) or id(function), interp.site(call.node, call.frame).span)
    interp.pending.pop(key, None)
    interp.pending[key] = lambda: interp.call(function, call)
    while len(interp.pending) > MAX_PENDING:
        del interp.pending[next(iter(interp.pending))]


def run_pending(interp: Interpreter) -> None:
    """A backward pass: it may or may not come by the hooks that wait for one."""
    for run in list(interp.pending.values()):
        interp.maybe(run)


__all__ = [
    "BACKWARD",
    "KINDS",
    "after",
    "before",
    "functions",
    "on_tensor",
    "register",
    "run_pending",
]

"""Optimizers, schedulers and gradient scalers: the events of a training loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchsleuth.interp.values import UNKNOWN, LibraryObject, ListValue, Parameters, Scalar, Tensor, Value

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter

_SCALERS = ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.amp.grad_scaler.GradScaler")


def construct(interp: Interpreter, path: str, call: Arguments) -> Value:
    made = LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))
    if is_optimizer(made):
        interp.trace.optimizers.append(made)
    return made


def is_scheduler(value: LibraryObject) -> bool:
    return value.path.startswith(("torch.optim.lr_scheduler", "torch.optim.swa_utils.SWALR"))


def is_optimizer(value: LibraryObject) -> bool:
    return value.path.startswith("torch.optim.") and not is_scheduler(value) and "swa_utils" not in value.path


def is_scaler(value: LibraryObject) -> bool:
    return value.path in _SCALERS


def handles(value: LibraryObject) -> bool:
    return is_optimizer(value) or is_scheduler(value) or is_scaler(value)


def method(interp: Interpreter, receiver: LibraryObject, name: str, call: Arguments) -> Value:
    from torchsleuth.interp.calls import Arguments as Args

    if is_scaler(receiver):
        if name == "scale":
            interp.event("scale", receiver, call.node, call.frame)
            return call.args[0] if call.args else UNKNOWN
        if name == "step" and call.args and isinstance(call.args[0], LibraryObject):
            interp.event("scaler_step", receiver, call.node, call.frame)
            interp.event("step", call.args[0], call.node, call.frame)
            interp.stepped(trained_modules(call.args[0]))
        elif name == "update":
            interp.event("scaler_update", receiver, call.node, call.frame)
        elif name == "unscale_" and call.args:
            interp.event("unscale", call.args[0], call.node, call.frame)
        return None if name != "get_scale" else Scalar("float")
    if is_scheduler(receiver):
        if name == "step":
            interp.event("scheduler_step", receiver, call.node, call.frame)
        return ListValue((Scalar("float"),)) if name == "get_last_lr" else None
    if name == "step":
        closure = call.get(0, "closure")
        if closure is not None:
            value = interp.call(closure, Args((), {}, call.node, call.frame))
            interp.event("step", receiver, call.node, call.frame)
            return value
        interp.event("step", receiver, call.node, call.frame)
        interp.stepped(trained_modules(receiver))
        return None
    if name == "zero_grad":
        interp.event("zero_grad", receiver, call.node, call.frame)
        return None
    if name == "add_param_group":
        return None
    return UNKNOWN


def trained_modules(optimizer: LibraryObject) -> list[Value]:
    """The modules whose parameters an optimizer was given whole, as far as they are known."""
    given = optimizer.argument(0, "params")
    parts = given.items or () if isinstance(given, ListValue) else (given,)
    return [module for part in parts if isinstance(part, Parameters) for module in part.modules]


def parameters_of(optimizer: LibraryObject) -> Value:
    return optimizer.argument(0, "params")


__all__ = [
    "construct",
    "handles",
    "is_optimizer",
    "is_scheduler",
    "method",
    "parameters_of",
    "trained_modules",
    "Tensor",
]

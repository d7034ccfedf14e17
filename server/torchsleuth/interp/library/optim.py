"""Optimizers, schedulers and gradient scalers: the events of a training loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchsleuth.interp.library import modules
from torchsleuth.interp.values import (
    UNKNOWN,
    DictValue,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Scalar,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter



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
    return value.path.endswith(".GradScaler")


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
            interp.stepped(call.args[0], interp.site(call.node, call.frame))
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
        value = None
        if closure is not None:
            value = interp.call(closure, Args((), {}, call.node, call.frame))
            if receiver.type_name == "LBFGS" and receiver.argument(2, "max_iter", 20) != 1:
                interp.stepped(receiver, interp.site(call.node, call.frame))
                interp.call(closure, Args((), {}, call.node, call.frame))
        interp.event("step", receiver, call.node, call.frame)
        interp.stepped(receiver, interp.site(call.node, call.frame))
        return value
    if name == "zero_grad":
        interp.event("zero_grad", receiver, call.node, call.frame)
        if call.get(0, "set_to_none", True) is True:
            interp.cleared(trained_parts(receiver))
        return None
    if name == "add_param_group":
        return None
    return UNKNOWN


def trained_parts(optimizer: LibraryObject) -> list[LibraryModule | Tensor]:
    """The parameters that an optimizer was given, by the library modules that hold them, as far as they are known."""
    return list(_parts(optimizer.argument(0, "params")))


def _parts(given: Value) -> Iterator[LibraryModule | Tensor]:
    if isinstance(given, Parameters):
        for module in given.modules:
            yield from modules.parts_of(module)
    elif isinstance(given, Tensor):
        yield given if given.owner is None else given.owner
    elif isinstance(given, ListValue | tuple):
        for part in (given.elements or ()) if isinstance(given, ListValue) else given:
            yield from _parts(part)
    elif isinstance(given, DictValue) and given.items is not None:
        yield from _parts(given.items.get("params"))


def parameters_of(optimizer: LibraryObject) -> Value:
    return optimizer.argument(0, "params")


__all__ = [
    "construct",
    "handles",
    "is_optimizer",
    "is_scheduler",
    "method",
    "parameters_of",
    "trained_parts",
]

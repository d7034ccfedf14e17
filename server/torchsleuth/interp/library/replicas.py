"""The inputs that DataParallel and its like give the module inside of them: copies of the inputs, on the module's own device."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import parameters
from torchsleuth.interp.library.tensor_methods import converted
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.values import AnyModule, DictValue, ListValue, Tensor, Value


def wrap(interp: Interpreter, module: AnyModule, call: Arguments) -> None:
    """A module is put into a wrapper. DistributedDataParallel moves inputs where it is told the devices."""
    if call.name == "DataParallel" or call.given(1, "device_ids") is not None:
        interp.heap.set(module.state, "replicated", True)


def inputs(interp: Interpreter, module: AnyModule, call: Arguments) -> Arguments:
    """A call of a module as the module sees it. One that may be wrapped is taken for wrapped."""
    if not module.state.get("replicated"):
        return call
    device = _device(interp, module)
    if device == CPU:
        return call

    def moved(value: Value) -> Value:
        match value:
            case Tensor() if value.spec.device != device:
                return converted(interp, value, value.spec.dtype, device, call)
            case tuple():
                return tuple(map(moved, value))
            case ListValue():
                return ListValue(None if value.items is None else tuple(map(moved, value.items)))
            case DictValue():
                items = value.items
                return DictValue(None if items is None else {key: moved(item) for key, item in items.items()})
        return value

    kwargs = copy(call.kwargs)
    kwargs.update({name: moved(value) for name, value in call.kwargs.items()})
    return replace(call, args=tuple(map(moved, call.args)), kwargs=kwargs)


def _device(interp: Interpreter, module: AnyModule) -> Device | None:
    """Where the first parameter of a module is, None where that is not known."""
    named = parameters.named(interp, module)
    return named[0][1].spec.device if named else None

"""Helpers of timm that models copy from it, so that they are known where it is not installed."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library.torch_calls import as_many
from torchsleuth.interp.models import models
from torchsleuth.values import LibraryModule, Value

_PLACES = ("timm.layers", "timm.models.layers")
_TUPLES = {
    f"{place}.{name}": count
    for place in _PLACES
    for count, name in enumerate(("to_2tuple", "to_3tuple", "to_4tuple"), 2)
}
_PATHS = tuple(f"{place}.DropPath" for place in _PLACES)
_NORMAL = tuple(f"{place}.trunc_normal_" for place in _PLACES)


@models(*_TUPLES)
def _tuple(interp: Interpreter, call: Arguments) -> Value:
    return as_many(call.given(0, "x"), _TUPLES[call.path])


@models(*_PATHS)
def _drop_path(interp: Interpreter, call: Arguments) -> Value:
    """A module that hands on its input, or zeros for some of the samples."""
    return LibraryModule("torch.nn.Identity", (), {}, interp.site(call.node, call.frame))


@models(*_NORMAL)
def _trunc_normal(interp: Interpreter, call: Arguments) -> Value:
    return interp.call(interp.oracle.resolve("torch.nn.init.trunc_normal_"), call)

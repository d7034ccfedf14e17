"""Helpers of timm that models copy from it, so that they are known where it is not installed."""

from __future__ import annotations

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library.torch_calls import as_many
from torchsleuth.interp.models import Model, models
from torchsleuth.sifting import as_kind
from torchsleuth.tensors.dims import is_number
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import UNKNOWN, LibraryModule, Tensor, Value, is_int

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


_CLASSES = 1000
"""The number of classes of Mixup where none is given (timm.data.mixup)."""


@models("timm.data.Mixup", "timm.data.mixup.Mixup")
class Mixup(Model):
    """Images mixed in pairs of a batch, with a row of shares of the classes for each."""

    def called(self, call: Arguments) -> Value:
        images = as_kind(call.given(0, "x"), Tensor)
        classes = self.interp.resolved(self.value.given(7, "num_classes", _CLASSES))
        shape = self.interp.resolved_spec(images.spec).shape if images is not None else None
        if images is None or not shape:
            return (UNKNOWN, UNKNOWN)
        if is_number(shape[0]) and shape[0] % 2:
            text = f"Batch size should be even when using this, and it is {shape[0]}"
            misuse.refuses(self.interp, self.value.path, call, "AssertionError", text)
        if not is_int(classes):
            return (images, UNKNOWN)
        return (images, Tensor(TensorSpec((shape[0], classes), "float32", images.spec.device, False)))

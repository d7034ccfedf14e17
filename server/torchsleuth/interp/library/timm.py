"""Helpers of timm that models copy from it, so that they are known where it is not installed."""

from __future__ import annotations

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import published
from torchsleuth.interp.library.torch_calls import as_many
from torchsleuth.interp.models import Model, Result, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.tensors.dims import is_number
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import UNKNOWN, LibraryModule, Tensor, Value, is_int, is_module

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


_OPTIMIZERS = {
    **{
        name.lower(): name
        for name in ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adagrad", "Adadelta", "Adamax", "RMSprop")
    },
    **dict.fromkeys(("momentum", "nesterov"), "SGD"),
}
"""Names of timm's optimizers that are those of PyTorch."""


@models("timm.optim.create_optimizer_v2", "timm.optim.optim_factory.create_optimizer_v2")
def _optimizer(interp: Interpreter, call: Arguments) -> Value:
    """An optimizer of the parameters of a model, or of those that are given."""
    given, name = call.given(0, "model_or_params"), interp.resolved(call.given(1, "opt", "sgd"))
    chosen = _OPTIMIZERS.get(name.lower()) if isinstance(name, str) else None
    if chosen is None or not call.exact:
        return UNKNOWN
    if is_module(given):
        method = interp.attribute(given, "parameters", call.node, call.frame)
        given = interp.call(method, Arguments((), {}, call.node, call.frame))
    options = {"lr": call.given(2, "lr"), "weight_decay": call.given(3, "weight_decay")}
    kwargs = {key: value for key, value in options.items() if value is not None}
    return interp.call(
        interp.oracle.resolve(f"torch.optim.{chosen}"), Arguments((given,), kwargs, call.node, call.frame)
    )


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


@models(published.FEATURE_INFO)
class FeatureInfo(Result):
    """The facts that a model tells of its maps of features: asking changes nothing."""

    def other(self, call: Arguments) -> Value:
        return UNKNOWN


# -- schedules -------------------------------------------------------------------------------------

SCHEDULES = "timm.scheduler."
_SCHEDULES = {
    "CosineLRScheduler": "cosine_lr",
    "TanhLRScheduler": "tanh_lr",
    "StepLRScheduler": "step_lr",
    "MultiStepLRScheduler": "multistep_lr",
    "PolyLRScheduler": "poly_lr",
}
_COUNTS = {"step": "epoch", "step_update": "num_updates"}
"""The methods of a schedule, by what each has to be told."""


@models(
    *(f"{SCHEDULES}{name}" for name in _SCHEDULES),
    *(f"{SCHEDULES}{place}.{name}" for name, place in _SCHEDULES.items()),
)
class Schedule(Model):
    """A schedule of the learning rate, which is told in each call how far the training is."""

    @method("step", "step_update")
    def counted(self, call: Arguments) -> Value:
        name = _COUNTS[self.name]
        if call.exact and not call.args and name not in call.kwargs:
            text = f"{self.value.type_name}.{self.name}() missing 1 required positional argument: '{name}'"
            misuse.refuses(self.interp, f"{self.value.path}.{self.name}", call, "TypeError", text)
        return None

    @method("state_dict", "load_state_dict")
    def kept(self, call: Arguments) -> Value:
        return UNKNOWN

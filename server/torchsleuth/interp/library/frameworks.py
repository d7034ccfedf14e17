"""Frameworks that are known by a source of our own, which is read as a file of the workspace is: Lightning, Ignite, OpenMMLab."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import checkpoints
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import by_position
from torchsleuth.values import UNKNOWN, Bound, Builtin, Function, LibraryObject, Namespace, Value, is_unknown
from torchsleuth.values.join import MISSING

FOLDER = Path(__file__).parents[1] / "frameworks"
_LIGHTNING = ("LightningModule", "LightningDataModule", "Trainer")
_SOURCES = {
    f"{package}.{name}": ("lightning.py", name)
    for package in (
        "lightning",
        "lightning.pytorch",
        "lightning.pytorch.core",
        "pytorch_lightning",
        "pytorch_lightning.core",
    )
    for name in _LIGHTNING
}
_IGNITE = ("Engine", "State", "create_supervised_trainer", "create_supervised_evaluator")
_SOURCES |= {f"ignite.engine.{name}": ("ignite.py", name) for name in _IGNITE}
_BRICKS = {
    "conv_module": ("ConvModule",),
    "depthwise_separable_conv_module": ("DepthwiseSeparableConvModule",),
    "conv": ("build_conv_layer",),
    "norm": ("build_norm_layer",),
    "activation": ("build_activation_layer", "Clamp"),
    "padding": ("build_padding_layer",),
    "upsample": ("build_upsample_layer", "PixelShufflePack"),
    "drop": ("build_dropout", "DropPath", "Dropout"),
    "scale": ("Scale", "LayerScale"),
    "hsigmoid": ("HSigmoid",),
    "swish": ("Swish",),
    "wrappers": tuple("Linear Conv2d Conv3d ConvTranspose2d ConvTranspose3d MaxPool2d MaxPool3d".split()),
    "registry": tuple(
        f"{kind}_LAYERS" for kind in ("CONV", "NORM", "ACTIVATION", "PADDING", "UPSAMPLE", "PLUGIN", "DROPOUT")
    ),
}
"""The names that `mmcv.cnn` gathers of its modules."""
_INITIAL = tuple(
    f"{kind}_init" for kind in ("constant", "xavier", "normal", "trunc_normal", "uniform", "kaiming", "caffe2_xavier")
)
_MODULES = ("BaseModule", "Sequential", "ModuleList", "ModuleDict")
_OPENMMLAB = {
    **{f"mmcv.cnn.bricks.{module}": names for module, names in _BRICKS.items()},
    "mmcv.cnn.bricks.transformer": ("FFN", "MultiheadAttention", "build_dropout"),
    "mmcv.cnn.bricks": tuple(name for names in _BRICKS.values() for name in names),
    "mmcv.cnn": (*(name for names in _BRICKS.values() for name in names), *_INITIAL),
    "mmcv.cnn.utils.weight_init": _INITIAL,
    "mmcv.runner": (*_MODULES, "auto_fp16", "force_fp32"),
    "mmcv.runner.base_module": _MODULES,
    "mmcv.utils": ("Registry", "build_from_cfg", "_BatchNorm", "_InstanceNorm", "SyncBatchNorm"),
    "mmcv.utils.registry": ("Registry", "build_from_cfg"),
    "mmcv.utils.parrots_wrapper": ("_BatchNorm", "_InstanceNorm", "SyncBatchNorm"),
    "mmengine.model": (*_MODULES, "BaseModel", *_INITIAL),
    "mmengine.model.base_module": _MODULES,
    "mmengine.model.weight_init": _INITIAL,
    "mmengine.registry": ("Registry", "MODELS", "build_from_cfg"),
    "mmengine": ("Registry", "MODELS", "build_from_cfg"),
    "mmengine.utils.dl_utils.parrots_wrapper": ("_BatchNorm", "_InstanceNorm", "SyncBatchNorm"),
}
_SOURCES |= {f"{package}.{name}": ("mmcv.py", name) for package, names in _OPENMMLAB.items() for name in names}
"""By public name: the file in `FOLDER`, and what it is called there."""


def is_ours(path: str) -> bool:
    """Whether a path is that of a source which the user does not know of."""
    return Path(path).parent == FOLDER


def member(interp: Interpreter, path: str) -> Value:
    """A class of a framework by its public name, MISSING where nothing is known of it."""
    if path not in _SOURCES:
        return MISSING
    file, name = _SOURCES[path]
    place = str(FOLDER / file)
    module = interp.modules.get(place)
    if module is None:
        source = interp.workspace.source(place)
        if source is None:
            return MISSING
        module = interp.execute_module(source, file.removesuffix(".py"))
        for builtin in (
            Builtin("_arguments_of_caller", _arguments),
            Builtin("_with_what_it_takes", partial(_called, interp)),
            Builtin("_that_save", partial(checkpoints.that_save, interp)),
            Builtin("_checkpoint_of", partial(checkpoints.contents, interp)),
            Builtin("_saved", partial(checkpoints.saved, interp)),
            Builtin("_is_known", lambda call: not is_unknown(call.first)),
        ):
            interp.heap.set(module.slots, builtin.name, builtin)
    return module.slots.get(name, MISSING) if isinstance(module, Namespace) else MISSING


def _called(interp: Interpreter, call: Arguments) -> Value:
    """A call of a hook with those of the arguments that it has parameters for."""
    hook, *given = call.args
    function = as_kind(hook.function if isinstance(hook, Bound) else hook, Function)
    if function is not None and function.node.args.vararg is None:
        named = function.node.args
        given = given[: len(by_position(named)) - isinstance(hook, Bound)]
    return interp.call(hook, replace(call, args=tuple(given)))


def _arguments(call: Arguments) -> Value:
    """The arguments of the constructor that calls ``save_hyperparameters()``, as attributes of one object."""
    caller = call.frame.caller
    function = as_kind(caller.function, Function) if caller is not None else None
    if caller is None or function is None:
        return UNKNOWN
    made = LibraryObject("argparse.Namespace", (), {}, None)
    named = function.node.args
    for argument in (*named.posonlyargs, *named.args[1:], *named.kwonlyargs):
        made.slots[argument.arg] = caller.names.get(argument.arg, UNKNOWN)
    return UNKNOWN if named.kwarg is not None else made

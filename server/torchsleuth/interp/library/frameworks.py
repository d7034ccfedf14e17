"""Frameworks that are known by a source of our own, which is read as a file of the workspace is: Lightning, Ignite, OpenMMLab."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from pathlib import Path

from torchsleuth.installed import version_of
from torchsleuth.interp import installed_sources, misuse, misuses
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import checkpoints
from torchsleuth.interp.misuses import Misuse, Rejection, Way
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import (
    by_position,
    called,
    every_parameter,
    is_name,
    is_spread,
    literal,
    nodes_in,
    plain_name,
)
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Builtin,
    ClassValue,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    Namespace,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

REBUILT = "lightning.LightningModule.load_from_checkpoint"
"""The path of the recorded call that gives a module with the weights of a file."""
FOLDER = Path(__file__).parents[1] / "frameworks"
_LIGHTNING = ("LightningModule", "LightningDataModule", "Trainer", "Callback")
_TUNER = (
    "lightning.pytorch.tuner",
    "pytorch_lightning.tuner",
    "lightning.pytorch.tuner.tuning",
    "pytorch_lightning.tuner.tuning",
)
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
_SOURCES |= {
    f"{package}.callbacks.{module}Callback": ("lightning.py", "Callback")
    for package in ("lightning.pytorch", "pytorch_lightning")
    for module in ("", "callback.")
}
_SOURCES |= {f"{package}.Tuner": ("lightning.py", "Tuner") for package in _TUNER}
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
            Builtin("_refuse", partial(_say, interp, misuses.REJECTED)),
            Builtin("_notice", partial(_say, interp, misuses.NOTICED)),
            Builtin("_is_called_on_instance", partial(_is_called_on_instance, interp)),
            Builtin("_rebuilt", partial(_rebuilt, interp)),
            Builtin("_defines", partial(_defines, interp)),
            Builtin("_divides_by", partial(_divides_by, interp)),
            Builtin("_since", _since),
            Builtin("_calls_any", partial(_calls_any, interp)),
            Builtin("_fits", partial(_fits, interp)),
            Builtin("_has_parameter", partial(_has_parameter, interp)),
            Builtin("_reads_parameter", partial(_reads_parameter, interp)),
        ):
            interp.heap.set(module.slots, builtin.name, builtin)
    return module.slots.get(name, MISSING) if isinstance(module, Namespace) else MISSING


def _say(interp: Interpreter, way: Way[Rejection], call: Arguments) -> Value:
    """``_refuse(condition, reason, subject, part, told…)``: a framework raises an error where the condition holds; ``_notice(…)``: it goes
    on, and not as it was meant. `subject`: whose argument or method is to blame, None where it is the user's call itself."""
    condition, reason, subject = call.args[:3]
    part, told = call.args[3] if len(call.args) > 3 else "", call.args[4:]
    frame, node = _user_call(call)
    if interp.truth(condition) is True and not is_ours(frame.path):
        rejection = Rejection(str(reason), subject, str(part), told)
        misuse.report(interp, Misuse(way, interp.site(node, frame), rejection))
    return None


def _since(call: Arguments) -> Value:
    """Whether Lightning has a version, or a later one: the newest where it is not installed."""
    installed = version_of("lightning", "pytorch-lightning")
    return installed is None or installed >= tuple(call.args)


def _user_call(call: Arguments) -> tuple[Frame, ast.AST]:
    """The call in the user's files that leads to this one."""
    frame: Frame = call.frame
    node: ast.AST = call.node
    while is_ours(frame.path) and frame.caller is not None and frame.call is not None:
        node = frame.call
        frame = frame.caller
    return frame, node


def _is_called_on_instance(interp: Interpreter, call: Arguments) -> Value:
    """Whether the user's call is that of a method of an object in a variable, and not of its class."""
    frame, node = _user_call(call)
    function = as_kind(node.func, ast.Attribute) if isinstance(node, ast.Call) else None
    if function is None or not isinstance(function.value, ast.Name) or is_ours(frame.path):
        return UNKNOWN
    return isinstance(interp.resolved(interp.eval(function.value, frame)), Instance)


def _rebuilt(interp: Interpreter, call: Arguments) -> Value:
    """An object of a class whose constructor gets what it was saved with: what is given here is known of it."""
    cls, given = call.args
    init = as_kind(interp.class_attribute(cls, "__init__"), Function) if isinstance(cls, ClassValue) else None
    if init is None or not isinstance(given, DictValue) or init.node.args.vararg is not None:
        return UNKNOWN
    entries = given.entries if given.entries is not None else {}
    names = [one.arg for one in (*by_position(init.node.args)[1:], *init.node.args.kwonlyargs)]
    kwargs = {name: entries.get(name, UNKNOWN) for name in names}
    made = interp.call(cls, Arguments((), kwargs, call.node, call.frame))
    frame, node = _user_call(call)
    interp.record_method(REBUILT, made, made, node, frame)
    return made


def _divides_by(interp: Interpreter, call: Arguments) -> Value:
    """``(object, method, number)``: whether the method divides by the number what it gives."""
    method, number = _method(interp, call), call.args[2]
    if method is None or not isinstance(method.node, ast.FunctionDef) or not isinstance(number, int):
        return UNKNOWN
    given = {plain_name(one.value) for one in nodes_in(method.node, ast.Return) if isinstance(one.value, ast.Name)}
    values: list[ast.expr | None] = [one.value for one in nodes_in(method.node, ast.Return)]
    values += [one.value for one in nodes_in(method.node, ast.Assign) if plain_name(one.targets[-1]) in given]
    divisors = [one.right for one in values if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div)]
    changed = [one for one in nodes_in(method.node, ast.AugAssign) if plain_name(one.target) in given]
    divisors += [one.value for one in changed if isinstance(one.op, ast.Div)]
    return any(_is_number(interp, method, one, number) for one in divisors)


def _is_number(interp: Interpreter, method: Function, node: ast.expr, number: int) -> bool:
    """Whether an expression is the number as it is written, a constant of the module, or the trainer's own attribute."""
    if isinstance(node, ast.Attribute):
        return node.attr == "accumulate_grad_batches"
    value = method.globals.get(node.id) if isinstance(node, ast.Name) else literal(node)
    return not isinstance(value, bool) and interp.resolved(value) == number


def _defines(interp: Interpreter, call: Arguments) -> Value:
    """Whether an object has an attribute of a name, or its class: that of the user's, or what stands for the framework's."""
    owner, name = interp.resolved(call.args[0]), str(call.args[1])
    if not isinstance(owner, Instance) or not owner.cls.has_known_bases():
        return UNKNOWN
    if name in owner.slots or interp.class_attribute(owner.cls, name) is not MISSING:
        return True
    return UNKNOWN if owner.state.get("open") else False


def _calls_any(interp: Interpreter, call: Arguments) -> Value:
    """Whether the class of an object, or one that it inherits from, calls a function or method of one of these names."""
    module, *names = call.args
    if not isinstance(module, Instance) or not module.cls.has_known_bases():
        return UNKNOWN
    own = [one for one in of_kind(module.cls.mro(), ClassValue) if not is_ours(one.path)]
    return any(called(part) in names for one in own for part in nodes_in(one.node, ast.Call))


def _fits(interp: Interpreter, call: Arguments) -> Value:
    """``_fits(path, …)``: the call that this constructor belongs to is one that the installed class of one of these paths takes."""
    frame, node = call.frame.caller, call.frame.call
    parameters = next(filter(None, map(installed_sources.signature, map(str, call.args))), None)
    if frame is not None and node is not None and not is_ours(frame.path) and not is_spread(node.args):
        keywords: dict[str, Value] = {one.arg: UNKNOWN for one in node.keywords if one.arg is not None}
        if len(keywords) == len(node.keywords):
            given = Arguments((UNKNOWN,) * len(node.args), keywords, node, frame)
            made = call.frame.instance()
            misuse.misfits(interp, parameters, made.cls if made is not None else UNKNOWN, given)
    return None


def _method(interp: Interpreter, call: Arguments) -> Function | None:
    """``(object, name, …)``: the method of the user's class of that name."""
    owner = interp.resolved(call.args[0])
    found = interp.class_attribute(owner.cls, str(call.args[1])) if isinstance(owner, Instance) else None
    return as_kind(found, Function)


def _has_parameter(interp: Interpreter, call: Arguments) -> Value:
    """Whether a method has a parameter of a name, or takes any number of arguments."""
    method = _method(interp, call)
    if method is None or method.node.args.vararg is not None:
        return UNKNOWN if method is None else True
    return any(one.arg == call.args[2] for one in every_parameter(method.node.args))


def _reads_parameter(interp: Interpreter, call: Arguments) -> Value:
    """Whether a method reads the parameter that it gets at a place, besides its object: True where that cannot be told."""
    method = _method(interp, call)
    if method is None:
        return UNKNOWN
    own, place = by_position(method.node.args)[1:], as_kind(call.args[2], int) or 0
    if method.node.args.vararg is not None or place >= len(own):
        return True
    body = method.node.body if isinstance(method.node.body, list) else [method.node.body]
    return any(is_name(part, own[place].arg) for statement in body for part in ast.walk(statement))


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

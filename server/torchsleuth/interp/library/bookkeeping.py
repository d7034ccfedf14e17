"""Functions of packages that are read as files of the workspace are, which keep books and change no tensor: they are not followed."""

from __future__ import annotations

import re
from collections.abc import Callable

from torchsleuth.interp.interface import Interpreter
from torchsleuth.values import UNKNOWN, Builtin, Function, Instance, Value
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING

_Given = Callable[[Interpreter, Function, dict[str, Value], Frame], Value]


def _nothing(interp: Interpreter, function: Function, names: dict[str, Value], frame: Frame) -> Value:
    return None


def _something(interp: Interpreter, function: Function, names: dict[str, Value], frame: Frame) -> Value:
    return UNKNOWN


def _eager(interp: Interpreter, function: Function, names: dict[str, Value], frame: Frame) -> Value:
    """The implementation of attention whose code is in the model's file."""
    return "eager"


def _as_it_is(interp: Interpreter, function: Function, names: dict[str, Value], frame: Frame) -> Value:
    """What a decorator is applied to, with options or without."""
    decorated = next(iter(names.values()), None)
    return _decorator(interp, function, names, frame) if decorated is None else decorated


def _decorator(interp: Interpreter, function: Function, names: dict[str, Value], frame: Frame) -> Value:
    """What hands back what it decorates."""
    return Builtin(function.name, lambda call: call.args[0] if call.args else UNKNOWN)


def _attribute(interp: Interpreter, function: Function, names: dict[str, Value], frame: Frame) -> Value:
    """What an object has, whatever its class does besides when an attribute is read."""
    match list(names.values()):
        case [Instance() as owner, str() as name]:
            return interp.own_attribute(owner, name, function.node, frame)
    return UNKNOWN


_BOOKS: dict[tuple[str, str], _Given] = {
    ("transformers/modeling_utils.py", "PreTrainedModel.post_init"): _nothing,
    ("transformers/modeling_utils.py", "PreTrainedModel.init_weights"): _nothing,
    ("transformers/modeling_utils.py", "PreTrainedModel.warn_if_padding_and_no_attention_mask"): _nothing,
    ("transformers/modeling_utils.py", "PreTrainedModel._check_and_adjust_attn_implementation"): _eager,
    ("transformers/modeling_utils.py", "PreTrainedModel._check_and_adjust_experts_implementation"): _eager,
    ("generation/configuration_utils.py", "GenerationConfig.from_model_config"): _something,
    ("heterogeneity/configuration_utils.py", "HeterogeneousConfigMixin.__getattribute__"): _attribute,
    ("utils/output_capturing.py", "capture_outputs"): _as_it_is,
    ("utils/generic.py", "merge_with_config_defaults"): _as_it_is,
    ("utils/generic.py", "can_return_tuple"): _as_it_is,
    ("utils/deprecation.py", "deprecate_kwarg"): _decorator,
    ("utils/auto_docstring.py", "auto_docstring"): _as_it_is,
}
"""By the end of the file's path, and the name."""
_NAMES = frozenset(name.rpartition(".")[2] for _, name in _BOOKS)


def given(interp: Interpreter, function: Function, names: dict[str, Value], frame: Frame) -> Value:
    """What a function gives that is not followed; MISSING for all others. The attributes that it sets are left as they are."""
    if function.name not in _NAMES:
        return MISSING
    file = "/".join(re.split(r"[\\/]", function.path)[-2:])
    name = function.name if function.owner is None else f"{function.owner.name}.{function.name}"
    known = _BOOKS.get((file, name))
    return MISSING if known is None else known(interp, function, names, frame)

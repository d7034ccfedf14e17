"""Models that other packages define: built by the package itself, on fake tensors and without its weights.

Nothing is downloaded: weights are loaded as if there were none in the file, and a configuration of transformers is
taken from its cache on this machine or not at all.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import sys
from collections.abc import Iterator
from functools import cache
from types import TracebackType
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from torchsleuth.oracle import gate, names
from torchsleuth.oracle.fake import plain_argument
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.tensors.spec import Answers, DictSpec, ListSpec, ModuleSpec, Native, ObjectSpec, PartSpec

PRETRAINED = ".from_pretrained"
FROM_CONFIG = ".from_config"
_NO_BUILDERS = frozenset({"get_weight", "get_model_weights", "get_model_builder", "list_models"})
METHODS = ("forward", "get_image_features", "get_text_features")
"""Beginnings of the names of those methods of a model that are called."""
_WEIGHTS = {"pretrained": False, "checkpoint_path": "", "cache_dir": None, "progress": False}
"""Arguments of timm's and torchvision's builders that make no difference to what is built, and harmless values of them."""


class Reached(Exception):
    """A submodule without an answer was called."""

    def __init__(self, part: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.part = part
        self.args_given = args
        self.kwargs_given = kwargs


def package_of(path: str) -> str | None:
    """The package, with its version, that builds a model when this path is called; None where it is not installed or not
    imported yet, or where the path names something else."""
    package = path.partition(".")[0]
    if package not in names.MODEL_PACKAGES:
        return None
    try:
        _builder(path)
        return f"{package} {names.version_of(package)}"
    except LookupError:
        return None


@cache
def _builder(path: str) -> Any:
    """The callable that builds a model. Raises LookupError."""
    package, _, name = path.rpartition(".")
    for ending in (PRETRAINED, FROM_CONFIG):
        if path.endswith(ending) and path.startswith("transformers."):
            return names.published(path.removesuffix(ending))
    if path.startswith("torchvision.") and not path.startswith("torchvision.models."):
        raise LookupError(path)
    value = names.published(path)
    if isinstance(value, type):
        if issubclass(value, torch.nn.Module):
            return value
    elif name == "transforms" and "_Weights." in package:
        return value  # what prepares pictures for these weights is a module, too
    elif inspect.isfunction(value) and not name.startswith("_") and name not in _NO_BUILDERS:
        if path.startswith("torchvision.models.") and name in (*_torchvision_models(), "get_model"):
            return value
        if path.startswith("timm.") and (name == "create_model" or names.published("timm.is_model")(name)):
            return value
    raise LookupError(path)


@cache
def _torchvision_models() -> frozenset[str]:
    return frozenset(names.published("torchvision.models.list_models")())


def build(recipe: ModuleSpec, convert: Any, mode: FakeTensorMode) -> torch.nn.Module:
    """The whole model of a recipe, with parameters and buffers of a fake mode. Raises whatever its package raises,
    LookupError where it makes no module.

    It is not built inside of the mode: constructors compute with tensors whose values they need, such as the rates of
    stochastic depth. Parameters become fake as soon as they are registered, and buffers when all is there.
    """
    builder = _builder(recipe.path)
    with _without_weights(), _fake_parameters(mode):
        args = [_argument(argument, convert) for argument in recipe.args]
        kwargs = {name: _argument(argument, convert) for name, argument in recipe.kwargs}
        if recipe.path.endswith((PRETRAINED, FROM_CONFIG)):
            made = _from_configuration(builder, recipe.path, args, kwargs)
        else:
            made = builder(*args, **_harmless(builder, args, kwargs))
    if not isinstance(made, torch.nn.Module):
        raise LookupError(recipe.path)
    for part in made.modules():
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = mode.from_tensor(buffer)
    return made


def _argument(value: Any, convert: Any) -> Any:
    """An argument of a builder. Builders alone take classes, of the layers that they are to make (``norm_layer=nn.LayerNorm``):
    those that are listed, which only hold what they are given."""
    return gate.layer(value.path) if isinstance(value, Native) and value.kind == "module-class" else convert(value)


@contextlib.contextmanager
def _fake_parameters(mode: FakeTensorMode) -> Iterator[None]:
    """Parameters are replaced by fake ones when modules register them: memory that is never written costs nothing."""
    register = torch.nn.Module.register_parameter
    made: dict[int, tuple[Any, Any]] = {}

    def fake(module: torch.nn.Module, name: str, parameter: Any) -> None:
        if parameter is not None and not isinstance(parameter, FakeTensor):
            if id(parameter) not in made:
                value = mode.from_tensor(parameter.detach())
                made[id(parameter)] = parameter, torch.nn.Parameter(value, parameter.requires_grad)
            parameter = made[id(parameter)][1]
        register(module, name, parameter)

    with mock.patch.object(torch.nn.Module, "register_parameter", fake):
        yield


def _harmless(builder: Any, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments without those that say where weights come from; `args` is changed likewise."""
    if isinstance(builder, type) or builder.__module__.partition(".")[0] != "timm":
        return kwargs
    if any(isinstance(value, str) and ":" in value for value in (*args, *kwargs.values())):
        raise LookupError("a model that is elsewhere")
    for index, name in enumerate(list(inspect.signature(builder).parameters)[: len(args)]):
        args[index] = _WEIGHTS.get(name, args[index])
    return {name: _WEIGHTS.get(name, value) for name, value in kwargs.items()}


def _from_configuration(cls: Any, path: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """``from_pretrained`` and ``from_config`` of transformers: of a configuration that is there."""
    if "trust_remote_code" in kwargs:
        raise LookupError("code of the model's own")
    if path.endswith(FROM_CONFIG):
        return cls.from_config(*args, **kwargs)
    kept = {name: value for name, value in kwargs.items() if name not in ("torch_dtype", "dtype", "device_map")}
    config = kept.pop("config", None)
    if config is None:
        configurations = getattr(cls, "config_class", None) or names.published("transformers.AutoConfig")
        config = _cached(configurations, args, kept)
    return cls.from_config(config) if hasattr(cls, "from_config") else cls(config)


def _cached(configurations: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A configuration that is on this machine. Raises LookupError, whatever keeps it from being read: its program may have
    more than this machine, and may let the code of others run."""
    if configurations.__name__ == "AutoConfig":
        kwargs = {**kwargs, "trust_remote_code": False}
    try:
        return configurations.from_pretrained(*args[:1], local_files_only=True, **kwargs)
    except Exception as error:
        raise LookupError(str(args[:1])) from error


@contextlib.contextmanager
def _without_weights() -> Iterator[None]:
    """Nothing is downloaded, loaded or drawn: fake tensors have no values."""

    def kept(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return tensor

    with contextlib.ExitStack() as stack:

        def patch(target: Any, name: str, value: Any) -> None:
            if target is not None and hasattr(target, name):
                stack.enter_context(mock.patch.object(target, name, value))

        for name in dir(torch.nn.init):
            if is_in_place(name):
                patch(torch.nn.init, name, kept)
        patch(torch.hub, "load_state_dict_from_url", lambda *args, **kwargs: {})
        patch(torch.nn.Module, "load_state_dict", lambda *args, **kwargs: None)
        weights = getattr(sys.modules.get("torchvision.models._api"), "WeightsEnum", None)
        patch(weights, "get_state_dict", lambda *args, **kwargs: {})
        patch(sys.modules.get("huggingface_hub.constants"), "HF_HUB_OFFLINE", True)
        disabled = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        stack.callback(logging.disable, disabled)
        yield


def method(model: torch.nn.Module, name: str) -> Any:
    """The callable part of a model: itself, or one of its methods for parts of the way. Raises LookupError."""
    if name == "forward":
        return model
    static = inspect.getattr_static(type(model), name, None)
    if not name.startswith(METHODS) or not inspect.isfunction(static):
        raise LookupError(name)
    return getattr(model, name)


def attribute(module: torch.nn.Module, path: str) -> Any:
    """The value of an attribute, or of an attribute of that: of a layer, a model or its configuration, none of them private.
    Raises LookupError."""
    value: Any = module
    for name in path.split("."):
        package = type(value).__module__.partition(".")[0]
        if name.startswith("_") or package not in ("torch", *names.MODEL_PACKAGES):
            raise LookupError(path)
        value = getattr(value, name)
    return value


def setting(recipe: ObjectSpec, name: str, convert: Any) -> Any:
    """A plain value that a configuration of this recipe holds, or all of them: ``to_dict``. Raises LookupError."""
    if name.startswith("_"):
        raise LookupError(name)
    with _without_weights():
        made = plain_argument(recipe, convert)
        if name == "to_dict":
            return _plain(made.to_dict())
        if name not in vars(made) and name not in made.attribute_map and name not in _COMPUTED:
            raise LookupError(name)
        return _plain(getattr(made, name))


_COMPUTED = ("num_labels", "use_return_dict", "output_attentions", "torch_dtype", "dtype")
"""Properties of a configuration that only tell what it holds: no other code of it is reached by a name of the workspace."""


def _plain(value: Any) -> Any:
    """A number, a text, None or a container of them, as a spec. Raises LookupError for everything else."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    match value:
        case list():
            return ListSpec(tuple(map(_plain, value)))
        case tuple():
            return tuple(map(_plain, value))
        case dict():
            return DictSpec(tuple((_plain(key), _plain(item)) for key, item in value.items()))
    raise LookupError(type(value).__name__)


def tree(module: torch.nn.Module) -> tuple[PartSpec, ...]:
    """The submodules of a model, itself first. One that has several names occurs under each of them."""
    found = []
    for name, part in module.named_modules(remove_duplicate=False):
        cls = type(part)
        path = names.canonical_class(cls, f"{cls.__module__}.{cls.__qualname__}")
        settings = _settings(part) if path.startswith("torch.nn.") else ()
        found.append(PartSpec(name, path, settings, next(part.parameters(), None) is not None))
    return tuple(found)


def _settings(layer: torch.nn.Module) -> tuple[tuple[str, Any], ...]:
    kept = []
    for name in inspect.signature(type(layer)).parameters:
        value = getattr(layer, name, None)
        parts = value if isinstance(value, tuple) else (value,)
        if value is not None and all(isinstance(part, bool | int | float | str) for part in parts):
            kept.append((name, value))
    return tuple(kept)


class _Stand(torch.nn.Module):
    """Stands in the place of a module and gives the answers that are known, in order."""

    def __init__(self, part: str, answers: list[Any]) -> None:
        super().__init__()
        self.part = part
        self.answers = answers
        self.given = 0

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.given == len(self.answers):
            raise Reached(self.part, args, kwargs)
        self.given += 1
        return self.answers[self.given - 1]


@contextlib.contextmanager
def changed(module: torch.nn.Module, recipe: ModuleSpec, convert: Any) -> Iterator[dict[int, tuple[str, int]]]:
    """The module with the changes of its recipe, for a while. Gives the parts and numbers of answers by their ids."""
    answers: dict[int, tuple[str, int]] = {}
    with contextlib.ExitStack() as stack:
        for part, change in recipe.changes:
            owner, _, name = part.rpartition(".")
            holder = module.get_submodule(owner)
            value = change
            if isinstance(change, Answers):
                given = [convert(item) for item in change.items]
                answers.update({id(item): (part, index) for index, item in enumerate(given)})
                value = _Stand(part, given)
            stack.callback(_set, holder, name, getattr(holder, name))
            _set(holder, name, value)
        yield answers


def _set(holder: torch.nn.Module, name: str, value: Any) -> None:
    """Set an attribute; of modules in the order of the others."""
    if name in holder._modules:
        holder._modules[name] = value
    else:
        setattr(holder, name, value)


def innermost(module: torch.nn.Module, trace: TracebackType | None) -> tuple[str, tuple[Any, ...], Any] | None:
    """The submodule whose call raised an error: its name and the arguments of the call; None if the module itself did."""
    found: tuple[Any, tuple[Any, ...], Any] | None = None
    while trace is not None:
        held = trace.tb_frame.f_locals
        if trace.tb_frame.f_code is torch.nn.Module._call_impl.__code__ and held.get("self") is not module:
            found = held["self"], held["args"], held["kwargs"]
        trace = trace.tb_next
    if found is None:
        return None
    name = next((name for name, part in module.named_modules(remove_duplicate=False) if part is found[0]), None)
    return None if name is None else (name, found[1], found[2])

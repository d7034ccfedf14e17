"""Where attributes and calls of library values are sent: torch functions, tensor methods, modules, objects."""

from __future__ import annotations

import ast
from typing import Any

from torchsleuth.interp import misuse, unset
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import (
    arrays,
    data,
    distributions,
    einops,
    external,
    functions,
    hierarchy,
    hooks,
    modules,
    numpy,
    optim,
    packed,
    parameters,
    python,
    torch_calls,
    vision,
)
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Bound,
    DictValue,
    Image,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Scalar,
    Tensor,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import AutogradFault

_CHANGING = frozenset({"pop", "popitem", "update", "clear", "setdefault", "move_to_end"})
"""Methods of a dict that change it."""
_METHOD_OWNERS = (ListValue, DictValue, str, tuple, Scalar, int, float)


def attribute(interp: Interpreter, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
    if isinstance(owner, Array):
        return arrays.attribute(interp, owner, name)
    if isinstance(owner, Image):
        known = vision.image_attribute(owner, name)
        return Bound(owner, name) if known is None else known
    if isinstance(owner, LibraryModule):
        value = modules.module_attribute(interp, owner, name, frame)
        if is_unknown(value) and owner.built is None and owner.path.startswith("torch.nn."):
            unset.of_library(interp, owner, name, node, frame)
        return value
    if isinstance(owner, Bound) and isinstance(owner.receiver, LibraryModule) and isinstance(owner.function, str):
        # ``model.config.hidden_size``: an attribute that is neither a part of the model nor plain.
        return modules.module_attribute(interp, owner.receiver, f"{owner.function}.{name}", frame)
    if isinstance(owner, LibraryObject):
        if distributions.is_distribution(owner):
            statistic = distributions.attribute(interp, owner, name, node, frame)
            return Bound(owner, name) if statistic is None else statistic
        value = _object_attribute(interp, owner, name)
        of_state = owner.path == hierarchy.STATE and name in map(_first, parameters.keys(interp, owner))
        if isinstance(value, Bound) and (of_state or owner.path.startswith(("torch.optim.", data.LOADER))):
            unset.of_library(interp, owner, name, node, frame)
        return value
    if isinstance(owner, Parameters):
        if name == "grad":
            interp.event("grad_touched", owner, node, frame)
            parts = [part for module in owner.modules for part in hierarchy.parts_of(module)]
            return None if interp.check_early(owner, parts, node, frame) else UNKNOWN
        return Bound(owner, name) if name.endswith("_") and not name.endswith("__") else UNKNOWN
    misuse.moves(interp, owner, name, node, frame)
    if isinstance(owner, ListValue) and not hasattr(list, name):
        data.takes_list(interp, (owner,), node, frame)
    if name == "backward" and (type(owner) is tuple or (isinstance(owner, ListValue) and owner.type_name == "list")):
        interp.fault(AutogradFault("sequence", interp.site(node, frame), owner))
    if isinstance(owner, _METHOD_OWNERS) and not isinstance(owner, bool):
        return Bound(owner, name)
    return UNKNOWN


def _first(key: str) -> str:
    """``fc1`` of ``fc1.weight``"""
    return key.partition(".")[0]


def _object_attribute(interp: Interpreter, owner: LibraryObject, name: str) -> Value:
    if name in owner.slots:
        return owner.slots[name]
    if vision.is_dataset(owner):
        return vision.attribute(interp, owner, name)
    if owner.path in ("torch.finfo", "torch.iinfo", "numpy.finfo") and name in (
        "min",
        "max",
        "eps",
        "tiny",
        "smallest_normal",
    ):
        return Scalar("float") if owner.path.endswith("finfo") else interp.fresh_size("?", positive=False)
    if owner.path == data.LOADER:
        if name in ("dataset", "batch_size", "collate_fn", "sampler", "drop_last"):
            return owner.argument(
                {"dataset": 0, "batch_size": 1}.get(name, 99), name, 1 if name == "batch_size" else UNKNOWN
            )
    if owner.type_name == "Subset" and name in ("dataset", "indices"):
        return owner.argument(0 if name == "dataset" else 1, name, UNKNOWN)
    if owner.type_name == "TensorDataset" and name == "tensors":
        return owner.args
    return Bound(owner, name)


def instance_attribute(interp: Interpreter, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
    """An attribute that an instance of a user's class has from its library base."""
    if owner.is_module:
        if name == "training":
            return owner.state["training"]
        if modules.is_module_method(name):
            return Bound(owner, name)
        if name in modules.WRAPPED and name not in owner.slots:
            return owner
    if owner.native is not None:
        # What its library part has not, the object itself may be given.
        interp.guarded += 1
        try:
            return interp.attribute(owner.native, name, node, frame)
        finally:
            interp.guarded -= 1
    return UNKNOWN


def native_init(interp: Interpreter, instance: Instance, call: Arguments) -> Value:
    """``super().__init__(…)`` of a library base."""
    base = instance.cls.native_base()
    if base is None:
        return None
    instance.state["ready"] = True
    site = (
        instance.site or interp.site(call.frame.call, call.frame.caller or call.frame)
        if call.frame.call
        else instance.site
    )
    if base.kind == "module-class" and base.path != "torch.nn.Module":
        native = LibraryModule(base.path, call.args, call.kwargs, site)
        if base.path in hierarchy.CONTAINERS:
            modules.make_container(interp, native, call)
        native.broken = native.broken or not call.exact
        instance.native = native
    elif base.path.startswith(("torch.utils.data.", "torch.optim", vision.DATASETS)):
        instance.native = LibraryObject(base.path, call.args, call.kwargs, site)
    return None


def call_native(interp: Interpreter, callee: Native, call: Arguments) -> Value:
    path = callee.path
    if path.startswith("einops."):
        return einops.call(interp, path, call)
    if callee.kind == "builtin":
        return python.call_builtin(interp, path.removeprefix("builtins."), call)
    if callee.kind == "external":
        return external.call(interp, path, call)
    if path in ("torch.finfo", "torch.iinfo"):
        return LibraryObject(path, call.args, call.kwargs, None)
    if callee.kind == "module-class":
        return torch_calls.construct_module(interp, path, call)
    if path.startswith("torch.optim"):
        return optim.construct(interp, path, call)
    if path.startswith(distributions.PREFIX) and callee.kind == "class":
        return distributions.construct(interp, path, call)
    return torch_calls.call(interp, path, callee.kind, call)


def call_method(interp: Interpreter, receiver: Value, name: Any, call: Arguments) -> Value:
    if isinstance(receiver, Tensor):
        return torch_calls.tensor_method(interp, receiver, name, call)
    if isinstance(receiver, Parameters):
        if name == "requires_grad_":
            decided = interp.truth(call.get(0, "requires_grad", True))
            interp.set_parameters(receiver, decided, call.node, call.frame)
        elif name != "detach_":
            interp.parameters_written(receiver, call.node, call.frame)
        return receiver
    if isinstance(receiver, Array):
        return arrays.of_operands(numpy.method(interp, receiver, name, call), receiver, *call.args)
    if isinstance(receiver, Image):
        return vision.image_method(interp, receiver, name, call)
    if isinstance(receiver, LibraryModule) or (isinstance(receiver, Instance) and modules.is_module_method(name)):
        return modules.module_method(interp, receiver, name, call)
    if isinstance(receiver, LibraryObject):
        return _object_method(interp, receiver, name, call)
    return python.container_method(interp, receiver, name, call)


def _object_method(interp: Interpreter, receiver: LibraryObject, name: str, call: Arguments) -> Value:
    if optim.handles(receiver):
        return optim.method(interp, receiver, name, call)
    if distributions.is_distribution(receiver):
        return distributions.method(interp, receiver, name, call)
    if receiver.path == hierarchy.STATE:
        held = parameters.entries(interp, receiver, name in _CHANGING)
        return UNKNOWN if held is None else python.container_method(interp, held, name, call)
    if packed.is_packed(receiver):
        return packed.moved(interp, receiver, name, call) if name in packed.MOVES else UNKNOWN
    if receiver.path == functions.CONTEXT:
        return functions.method(interp, receiver, name, call)
    if receiver.path == hooks.HANDLE:
        return hooks.remove(interp, receiver) if name == "remove" else UNKNOWN
    value = external.method(interp, receiver, name, call)
    if is_unknown(value):
        interp.escape((*call.args, *call.kwargs.values()))
    return value


def call_object(interp: Interpreter, callee: Value, call: Arguments) -> Value:
    """A call of a value that is not a function: an image transform, or unknown."""
    if vision.is_transform(callee) and call.args and call.exact:
        made = vision.apply(interp, callee, call.args[0], call.node, call.frame)
        return made if len(call.args) == 1 else (made, *call.args[1:])
    return UNKNOWN


def external_constant(path: str) -> Value:
    return external.constant(path)

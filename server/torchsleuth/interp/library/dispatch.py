"""Where attributes, items and calls of library values are sent: to the models that are registered for them."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from torchsleuth.interp import exceptions, misuse, unset
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import (
    arrays,
    classes,
    data,
    external,
    hierarchy,
    modules,
    numpy,
    optim,
    pure,
    python,
    torch_calls,
    vision,
)
from torchsleuth.interp.library import registered as registered
from torchsleuth.interp.library.plain import Known
from torchsleuth.interp.library.tensor_methods import TensorMethods
from torchsleuth.interp.models import Model, is_pure, of_function
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    Array,
    Bound,
    DictValue,
    Function,
    Image,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Partial,
    Scalar,
    SliceValue,
    Tensor,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import AutogradFault

_METHOD_OWNERS = (ListValue, DictValue, str, bytes, tuple, Scalar, int, float, complex)


class ArrayMethods(Model):
    """A NumPy array."""

    def get(self, node: ast.AST, frame: Frame) -> Value:
        return arrays.attribute(self.interp, self.value, self.name)

    def run(self, call: Arguments) -> Value:
        value = numpy.method(self.interp, self.value, self.name, call)
        return arrays.of_operands(value, self.value, *call.args)


_KINDS: dict[type[Value], type[Model]] = {
    Tensor: TensorMethods,
    Parameters: modules.ParametersMethods,
    Array: ArrayMethods,
    Image: vision.ImageMethods,
    LibraryModule: modules.ModuleMethods,
}


def _model(interp: Interpreter, value: Value, name: str = "") -> Model | None:
    """The model of a value, None for what is Python's."""
    if isinstance(value, LibraryObject):
        return optim.model_of(value)(interp, value, name)
    kind = modules.ModuleMethods if isinstance(value, Instance) else _KINDS.get(type(value))
    return None if kind is None else kind(interp, value, name)


def attribute(interp: Interpreter, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
    model = _model(interp, owner, name)
    if isinstance(owner, LibraryModule):
        value = modules.module_attribute(interp, owner, name, frame)
        if is_unknown(value) and owner.built is None and owner.path.startswith("torch.nn."):
            unset.of_library(interp, owner, name, node, frame)
        return value
    if isinstance(owner, Bound) and isinstance(owner.receiver, LibraryModule) and isinstance(owner.function, str):
        # ``model.config.hidden_size``: an attribute that is neither a part of the model nor plain.
        return modules.module_attribute(interp, owner.receiver, f"{owner.function}.{name}", frame)
    if model is not None and not isinstance(owner, Instance):
        if isinstance(owner, LibraryObject) and name not in owner.slots and _lacks(owner, name):
            return None if name in ("__cause__", "__context__") else UNKNOWN
        value = model.get(node, frame)
        if isinstance(owner, LibraryObject) and isinstance(value, Bound) and model.lacks():
            unset.of_library(interp, owner, name, node, frame)
        return value
    misuse.moves(interp, owner, name, node, frame)
    if isinstance(owner, ListValue) and not hasattr(list, name):
        data.takes_list(interp, (owner,), node, frame)
    if name == "backward" and (type(owner) is tuple or (isinstance(owner, ListValue) and owner.type_name == "list")):
        interp.fault(AutogradFault("sequence", interp.site(node, frame), owner))
    if isinstance(owner, Known):
        value = pure.known_attribute(owner, name)
        return Bound(owner, name) if value is pure.ABSENT else value
    return _plain_attribute(interp, owner, name)


def _lacks(owner: LibraryObject, name: str) -> bool:
    """Whether an object has only the attributes that it was given."""
    return exceptions.is_exception(owner) or python.has_attribute(owner, name) is False


def _plain_attribute(interp: Interpreter, owner: Value, name: str) -> Value:
    """An attribute of a value of Python's own."""
    if isinstance(owner, SliceValue):
        return {"start": owner.start, "stop": owner.stop, "step": owner.step}.get(name, UNKNOWN)
    if isinstance(owner, ListValue) and name in ("start", "stop", "step") and owner.type_name == "range":
        return owner.slots.get("bounds", {}).get(name, UNKNOWN)
    if isinstance(owner, ListValue) and name == "maxlen" and owner.type_name == "deque":
        return owner.slots.get("maxlen")
    if isinstance(owner, int | float | complex) and name in ("real", "imag"):
        return getattr(owner, name)
    if isinstance(owner, Partial):
        held = {"func": owner.function, "args": owner.args, "keywords": DictValue(dict(owner.kwargs))}
        return held.get(name, UNKNOWN)
    if isinstance(owner, Function):
        return classes.function_attribute(interp, owner, name)
    if isinstance(owner, Bound) and isinstance(owner.function, Function):
        bound = {"__self__": owner.receiver, "__func__": owner.function}
        return bound[name] if name in bound else classes.function_attribute(interp, owner.function, name)
    return Bound(owner, name) if isinstance(owner, _METHOD_OWNERS) else UNKNOWN


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
    elif exceptions.class_named(base.path) is not None:
        instance.native = exceptions.made(base.path, call.args, site)
        if not call.exact:
            instance.native.slots["args"] = UNKNOWN
    elif base.path.startswith(("torch.utils.data.", "torch.optim", vision.DATASETS)):
        instance.native = LibraryObject(base.path, call.args, call.kwargs, site)
    return None


def call_native(interp: Interpreter, callee: Native, call: Arguments) -> Value:
    """A call of a function or class of a library."""
    call = replace(call, callee=callee)
    if callee.kind != "builtin":
        known = pure.function(interp, callee.path, call)
        if known is not pure.ABSENT:
            return known
    if callee.kind == "builtin":
        return python.call_builtin(interp, callee.name, call)
    if callee.kind == "external" and not is_pure(callee.path):
        return external.call(interp, call)
    # A family of names says what its functions are; its modules are like any others.
    model = of_function(callee.path, whole=callee.kind == "module-class")
    if model is not None:
        return model(interp, call)
    if callee.kind == "module-class":
        return torch_calls.construct_module(interp, call)
    return torch_calls.apply(interp, call)


def call_method(interp: Interpreter, receiver: Value, name: Any, call: Arguments) -> Value:
    """A call of a method."""
    if isinstance(receiver, Known):
        return pure.known_method(interp, receiver, name, call)
    mine = not isinstance(receiver, Instance) or modules.is_module_method(name)
    model = _model(interp, receiver, name) if mine else None
    return python.container_method(interp, receiver, name, call) if model is None else model.run(call)


def call_object(interp: Interpreter, callee: Value, call: Arguments) -> Value:
    """A call of a value that is not a function: an image transform, or unknown."""
    model = _model(interp, callee) if isinstance(callee, LibraryObject) else None
    return UNKNOWN if model is None else model.called(call)


def item(interp: Interpreter, owner: LibraryObject, key: Value, node: ast.AST, frame: Frame) -> Value:
    """``owner[key]``"""
    model = _model(interp, owner)
    return UNKNOWN if model is None else model.item(key, node, frame)


def external_constant(path: str) -> Value:
    return external.constant(path)

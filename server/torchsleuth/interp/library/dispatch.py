"""Where items, methods and calls of library values are sent: to the models that are registered for them."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from torchsleuth.interp import exceptions
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import (
    arrays,
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
    Image,
    Instance,
    LibraryModule,
    LibraryObject,
    Parameters,
    Tensor,
    Value,
)
from torchsleuth.values.frames import Frame


class ArrayMethods(Model):
    """A NumPy array."""

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

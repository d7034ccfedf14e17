"""Where items, methods and calls of library values are sent: to the models that are registered for them."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchsleuth.interp import exceptions, unset
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import (
    classes,
    external,
    hierarchy,
    layers,
    modules,
    pure,
    python,
    torch_calls,
    vision,
)
from torchsleuth.interp.library import registered as registered
from torchsleuth.interp.models import is_pure, of_function
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import is_attribute, stores
from torchsleuth.tensors.spec import Failure, Native, NotASpec, Undecided
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    ClassValue,
    Instance,
    LibraryModule,
    LibraryObject,
    ModulesView,
    Value,
)
from torchsleuth.values.frames import Frame


def instance_attribute(interp: Interpreter, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
    """An attribute that an instance of a user's class has from its library base."""
    if owner.is_module:
        if name == "training":
            return owner.state["training"]
        if modules.is_module_method(name):
            return Bound(owner, name)
        if name == "_modules" and owner.native is None and not owner.state.get("open") and not owner.cls.opaque:
            return ModulesView(owner)
        if name in modules.WRAPPED and not _has_of_its_own(owner, name):
            unset.never_wrapped(interp, owner, name, node, frame)
            return owner
    if owner.native is not None:
        # What its library part has not, the object itself may be given.
        interp.guarded += 1
        try:
            return interp.attribute(owner.native, name, node, frame)
        finally:
            interp.guarded -= 1
    return classes.of_mapping(interp, owner, name)


def _has_of_its_own(owner: Instance, name: str) -> bool:
    """Whether the classes of an object give it an attribute of this name somewhere."""
    return name in owner.slots or any(
        is_attribute(part, name) and stores(part)
        for cls in of_kind(owner.cls.mro(), ClassValue)
        for part in ast.walk(cls.node)
    )


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
        native.broken = native.broken or not call.exact or not _is_made(interp, native)
        instance.native = native
    elif exceptions.class_named(base.path) is not None:
        instance.native = exceptions.made(base.path, call.args, site)
        if not call.exact:
            instance.native.slots["args"] = UNKNOWN
    elif base.path.startswith(("torch.utils.data.", "torch.optim", "torch.distributions.", vision.DATASETS)):
        instance.native = LibraryObject(base.path, call.args, call.kwargs, site)
    return None


def _is_made(interp: Interpreter, native: LibraryModule) -> bool:
    """Whether PyTorch makes a layer of these arguments, or says why it does not; with symbols among them it does neither. For a contract,
    where they stand for any numbers, some show it."""
    if native.slots["children"] is not None:
        return True
    try:
        recipe = interp.recipe(native)
    except NotASpec:
        return False
    verdict = interp.oracle.construct(recipe)
    if isinstance(verdict, Undecided) and interp.is_inferring():
        tried = [interp.oracle.construct(one) for one, _ in layers.with_numbers(recipe)]
        return bool(tried) and all(one is None for one in tried)
    return verdict is None or isinstance(verdict, Failure)


def call_native(interp: Interpreter, callee: Native, call: Arguments) -> Value:
    """A call of a function or class of a library."""
    call = replace(call, callee=callee)
    if callee.kind != "builtin" or callee.path.count(".") > 1:
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

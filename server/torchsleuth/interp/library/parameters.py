"""The parameters and buffers of a module one by one: names, shapes and owners, in the order of ``named_parameters()``."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy
from torchsleuth.oracle.sizes import map_sizes
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import is_name, nodes_in
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_index, is_number
from torchsleuth.tensors.spec import ModuleSpec, Native, NotASpec, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    Builtin,
    DictValue,
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Several,
    Tensor,
    Value,
    is_object,
    is_unknown,
)

Named = tuple[str, Tensor]
_NUMBERS = (12, 24)
"""Numbers for sizes that are not known: parameters that have the same names with each have these with any."""


class _Found(dict[object, Named]):
    """The parameters that were found, by the tensor, or by its name where `state`: ``state_dict()`` has persistent buffers, too, and what is
    shared under each of its names."""

    def __init__(self, state: bool) -> None:
        super().__init__()
        self.state = state

    def add(self, key: object, name: str, tensor: Tensor) -> None:
        self.setdefault(name if self.state else key, (name, tensor))


def named(interp: Interpreter, module: Value, buffers: bool = False) -> tuple[Named, ...] | None:
    """Names and tensors of the parameters, None where they are not all known. Those that are shared occur once.

    `buffers`: as in ``state_dict()``.
    """
    found = _Found(buffers)
    return tuple(found.values()) if _collect(interp, module, "", found) else None


def _held(interp: Interpreter, module: Value) -> dict[str, Value] | None:
    """The result of ``state_dict()``: tensors without gradients that share the memory of the parameters."""
    pairs = named(interp, module, buffers=True)
    if pairs is None:
        return None
    held: dict[str, Value] = {}
    for name, tensor in pairs:
        held[name] = copy = Tensor(interp.resolved_spec(tensor.spec).with_(requires_grad=False))
        copy.storage = tensor.storage
    return held


def entries(interp: Interpreter, state: LibraryObject, changed: bool = False) -> DictValue | None:
    """The entries of the result of ``state_dict()``, None where it is not known. `changed`: it is about to be changed."""
    own = state.slots.get("entries")
    if own is None:
        own = DictValue(_held(interp, state.args[0]), "OrderedDict")
        own.slots["state"] = state
        if changed:
            interp.heap.set(state.slots, "entries", own)
    return as_kind(own, DictValue)


def keys(interp: Interpreter, state: LibraryObject) -> tuple[str, ...]:
    """The names that the result of ``state_dict()`` has, as far as they are known."""
    held = entries(interp, state)
    return tuple(of_kind(held.entries or () if held is not None else (), str))


def _collect(interp: Interpreter, module: Value, prefix: str, found: _Found) -> bool:
    """Adds the parameters of a module and of those below it; whether they are all known."""
    if isinstance(module, LibraryModule):
        if module.path in hierarchy.PARAMETER_CONTAINERS:
            for name, value in module.children or ():
                if not isinstance(value, Tensor):
                    return False
                found.add(value.identity, f"{prefix}{name}", value)
            return module.children is not None
        if module.children is None or module.built is not None:
            if not _own(interp, module, prefix, found):
                return False
    elif not isinstance(module, Instance) or not module.is_module or module.cls.opaque:
        return False
    else:
        own = {name: value for name, value in module.slots.items() if isinstance(value, Tensor)}
        buffers = {name: value for name, value in own.items() if found.state and _persists(value)}
        for name, value in ({name: value for name, value in own.items() if value.parameter} | buffers).items():
            found.add(value.identity, f"{prefix}{name}", value)
        broken = [part for part in of_kind(module.slots.values(), LibraryModule) if part.broken]
        if any(not hierarchy.is_loss(part.path) and not (found.state and part.undecided) for part in broken):
            return False
        if isinstance(module.native, LibraryModule) and module.native.children is None:
            if not _own(interp, module.native, prefix, found):
                return False
    below = hierarchy.named_children(module)
    return all(_collect(interp, part, f"{prefix}{name}.", found) for name, part in below)


def _persists(tensor: Tensor) -> bool:
    """Whether a tensor is a buffer that ``state_dict()`` has."""
    return tensor.buffer and not tensor.slots.get("transient")


def _own(interp: Interpreter, module: LibraryModule, prefix: str, found: _Found) -> bool:
    made = _of_recipe(interp, module, found.state)
    if made is None:
        return not hierarchy.has_parameters(interp, module)
    for name, spec in made:
        if module.children is not None and "." in name:
            continue  # of a part of a model, which is asked for its own
        tied = module.slots["tied"].get(name)
        if is_unknown(tied):
            return False
        tensor = tied if isinstance(tied, Tensor) else of_module(module, spec)
        if tensor is not tied:
            tensor.slots["own_name"] = name
        key = tensor.identity if tensor.owner is None else (tensor.owner.identity, name)
        found.add(key, f"{prefix}{name}", tensor)
    return True


def _of_recipe(interp: Interpreter, module: LibraryModule, state: bool) -> tuple[tuple[str, TensorSpec], ...] | None:
    """A layer's parameters, as PyTorch has them. Where sizes are not known, those of a state have the names that they have
    with numbers in their place, and nothing is known of their shapes."""
    undecided = module.undecided if state and not interp.changed(module) else None
    try:
        if undecided is None:
            return interp.oracle.parameters(interp.recipe(module), state)
        found = [interp.oracle.parameters(_with_number(undecided, number), state) for number in _NUMBERS]
    except (LookupError, NotASpec):
        return None
    if len({tuple(name for name, _ in one) for one in found}) > 1:
        return None
    return tuple((name, spec.with_(shape=None, strides=None)) for name, spec in found[0])


def _with_number(recipe: ModuleSpec, number: int) -> ModuleSpec:
    """The recipe with a number in the place of each symbol."""

    def convert(size: Any) -> Any:
        return dims.rebuild(size, lambda _: number)

    return replace(recipe, args=map_sizes(recipe.args, convert), kwargs=map_sizes(recipe.kwargs, convert))


def of_module(module: LibraryModule, spec: TensorSpec) -> Tensor:
    """A parameter of a library module as a tensor."""
    grad = None if module.requires_grad is None else spec.requires_grad
    tensor = Tensor(spec.with_(device=module.device, requires_grad=grad))
    tensor.parameter = True
    tensor.owner = module
    return tensor


def switches_all(interp: Interpreter, tensor: Tensor, value: bool | None) -> bool:
    """Notes that one parameter of a module of the library is frozen or unfrozen: whether all of that module are now."""
    owner, own = as_kind(tensor.owner, LibraryModule), as_kind(tensor.slots.get("own_name"), str)
    if owner is None or own is None or value is None:
        return False
    interp.heap.set(owner.slots, f"switched {own}", value)
    try:
        names = [name for name, _ in interp.oracle.parameters(interp.recipe(owner), False)]
    except (LookupError, NotASpec):
        return False
    return all(owner.slots.get(f"switched {name}") is value for name in names)


def each(interp: Interpreter, parameters: Parameters) -> tuple[Value, ...] | None:
    """The elements that a loop over ``parameters()`` or ``named_parameters()`` sees, None where that is not known."""
    items: list[Value] = []
    for module in parameters.modules:
        pairs = named(interp, module)
        if pairs is None:
            return None
        items += pairs if parameters.named else [tensor for _, tensor in pairs]
    return tuple(items) if items or not any(map(hierarchy.has_unknown_parts, parameters.modules)) else None


def parameter_at(interp: Interpreter, value: Value, index: Value) -> Value | None:
    """An element of ``list(model.parameters())``, None where that is not known."""
    if not is_number(index):
        return None
    items = listed(interp, value)
    return items[index] if items is not None and is_index(index, items) else None


def listed(interp: Interpreter, value: Value) -> tuple[Value, ...] | None:
    """The parameters that a value like ``list(model.parameters())`` holds, None for any other value."""
    if isinstance(value, Parameters):
        return each(interp, value)
    elements = as_kind(value.elements, Several) if isinstance(value, ListValue) else None
    if elements is not None and len(elements) == 1 and isinstance(elements[0], Parameters):
        return each(interp, elements[0])
    return None


def asks_identity(function: Value) -> bool:
    """Whether a function asks which one it is given: ``id``, or ``lambda p: id(p) not in others``."""
    if isinstance(function, Builtin | Native):
        return function.name.rpartition(".")[2] == "id"
    return isinstance(function, Function) and any(
        is_name(call.func, "id") for call in nodes_in(function.node, ast.Call)
    )


def identity(interp: Interpreter, tensor: Tensor) -> int:
    """The number of a parameter: another one for each."""
    own = tensor.identity if tensor.owner is None else (tensor.owner.identity, tensor.slots.get("own_name"))
    return interp.numbers.identities.setdefault(own, -1 - len(interp.numbers.identities))


def as_dict(interp: Interpreter, container: Value) -> Value:
    """A container that is about to be changed: for the result of ``state_dict()`` the dict that it is."""
    return _opened(interp, container, True)


def as_entries(interp: Interpreter, container: Value) -> Value:
    """A container that is looked into, likewise."""
    return _opened(interp, container, False)


def _opened(interp: Interpreter, container: Value, changed: bool) -> Value:
    if is_object(container, hierarchy.STATE):
        held = entries(interp, container, changed)
        return UNKNOWN if held is None else held
    return container

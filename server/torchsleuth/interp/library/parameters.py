"""The parameters and buffers of a module one by one: names, shapes and owners, in the order of ``named_parameters()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchsleuth.interp.library import modules
from torchsleuth.interp.values import UNKNOWN, Instance, LibraryModule, ListValue, Parameters, Several, Tensor, Value
from torchsleuth.tensors.spec import NotASpec, TensorSpec

if TYPE_CHECKING:
    from torchsleuth.interp.interpreter import Interpreter

Named = tuple[str, Tensor]


def named(interp: Interpreter, module: Value, buffers: bool = False) -> tuple[Named, ...] | None:
    """Names and tensors of the parameters, None where they are not all known. Those that are shared occur once.

    `buffers`: persistent buffers, too, as in ``state_dict()``.
    """
    found: dict[object, Named] = {}
    return tuple(found.values()) if _collect(interp, module, "", found, buffers) else None


def state(interp: Interpreter, module: Value) -> dict[str, Value] | None:
    """What ``state_dict()`` holds: tensors without gradients that share the memory of the parameters."""
    pairs = named(interp, module, buffers=True)
    if pairs is None:
        return None
    held: dict[str, Value] = {}
    for name, tensor in pairs:
        held[name] = Tensor(interp.resolved_spec(tensor.spec).with_(requires_grad=False))
        held[name].storage = tensor.storage
    return held


def _collect(interp: Interpreter, module: Value, prefix: str, found: dict[object, Named], buffers: bool) -> bool:
    """Adds the parameters of a module and of those below it; whether they are all known."""
    if isinstance(module, LibraryModule):
        if module.path in modules.PARAMETER_CONTAINERS:
            children = module.children or ()
            for name, value in children:
                found.setdefault(getattr(value, "identity", None), (f"{prefix}{name}", value))
            return module.children is not None and all(isinstance(value, Tensor) for _, value in children)
        if module.children is None or module.built is not None:
            if not _own(interp, module, prefix, found, buffers):
                return False
    elif not isinstance(module, Instance) or not module.is_module or module.cls.opaque:
        return False
    else:
        for name, value in module.slots.items():
            if isinstance(value, Tensor) and (value.parameter or (buffers and _persists(value))):
                found.setdefault(value.identity, (f"{prefix}{name}", value))
            elif isinstance(value, LibraryModule) and value.broken and not modules.is_loss(value.path):
                return False
        if isinstance(module.native, LibraryModule) and module.native.children is None:
            if not _own(interp, module.native, prefix, found, buffers):
                return False
    below = modules.named_children(module)
    return all(_collect(interp, part, f"{prefix}{name}.", found, buffers) for name, part in below)


def _persists(tensor: Tensor) -> bool:
    """Whether a tensor is a buffer that ``state_dict()`` has."""
    return tensor.buffer and not tensor.slots.get("transient")


def _own(interp: Interpreter, module: LibraryModule, prefix: str, found: dict[object, Named], buffers: bool) -> bool:
    try:
        entries = interp.oracle.parameters(interp.recipe(module), buffers)
    except (LookupError, NotASpec):
        return not modules.has_parameters(interp, module)
    for name, spec in entries:
        if module.children is not None and "." in name:
            continue  # of a part of a model, which is asked for its own
        tied = module.slots["tied"].get(name)
        if tied is UNKNOWN:
            return False
        tensor = tied if isinstance(tied, Tensor) else of_module(module, spec)
        key = tensor.identity if tensor.owner is None else (tensor.owner.identity, name)
        found.setdefault(key, (f"{prefix}{name}", tensor))
    return True


def of_module(module: LibraryModule, spec: TensorSpec) -> Tensor:
    """A parameter of a library module as a tensor."""
    grad = None if module.requires_grad is None else spec.requires_grad
    tensor = Tensor(spec.with_(device=module.device, requires_grad=grad))
    tensor.parameter = True
    tensor.owner = module
    return tensor


def each(interp: Interpreter, parameters: Parameters) -> tuple[Value, ...] | None:
    """What a loop over ``parameters()`` or ``named_parameters()`` sees, None where that is not known."""
    items: list[Value] = []
    for module in parameters.modules:
        pairs = named(interp, module)
        if pairs is None:
            return None
        items += pairs if parameters.named else [tensor for _, tensor in pairs]
    return tuple(items)


def parameter_at(interp: Interpreter, value: Value, index: Value) -> Value | None:
    """An element of ``list(model.parameters())``, None where that is not known."""
    if not isinstance(index, int) or isinstance(index, bool):
        return None
    items = listed(interp, value)
    return items[index] if items is not None and -len(items) <= index < len(items) else None


def listed(interp: Interpreter, value: Value) -> tuple[Value, ...] | None:
    """The parameters that a value like ``list(model.parameters())`` holds, None for any other value."""
    if isinstance(value, Parameters):
        return each(interp, value)
    elements = value.elements if isinstance(value, ListValue) else None
    if isinstance(elements, Several) and len(elements) == 1 and isinstance(elements[0], Parameters):
        return each(interp, elements[0])
    return None

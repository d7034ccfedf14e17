"""load_state_dict(): whether the keys and the shapes of a state fit a module."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy, parameters
from torchsleuth.interp.trace import StateFault
from torchsleuth.sifting import all_are, of_kind
from torchsleuth.values import DictValue, Instance, Ref, Tensor, Value, is_object
from torchsleuth.values.join import MISSING

_OWN = (
    "state_dict",
    "load_state_dict",
    "_load_from_state_dict",
    "_save_to_state_dict",
    "set_extra_state",
    "get_extra_state",
)
"""Methods by which a class decides itself what a state is."""
RENAMES = frozenset(
    "DataParallel DistributedDataParallel compile AveragedModel FullyShardedDataParallel register_parametrization "
    "weight_norm spectral_norm orthogonal remove_weight_norm remove_spectral_norm l1_unstructured random_unstructured "
    "remove ln_structured random_structured global_unstructured custom_from_mask identity prepare_qat prepare convert quantize_dynamic".split()
)
"""Functions and classes under which parameters have other names."""
HOOKS = frozenset(
    "register_load_state_dict_pre_hook register_load_state_dict_post_hook _register_load_state_dict_pre_hook "
    "register_state_dict_pre_hook register_state_dict_post_hook _register_state_dict_hook".split()
)
"""Methods after which a function of the script's own decides what a state is."""


def check(interp: Interpreter, module: Value, call: Arguments) -> None:
    """Record what load_state_dict() raises for, where both sides are known."""
    given = call.given(0, "state_dict")
    state = parameters.as_entries(interp, given)
    held = state.items if isinstance(state, DictValue) else None
    if held is None or not call.exact or interp.guarded or not all(isinstance(key, str) for key in held):
        return
    if any(one.identity in interp.trace.escaped for one in of_kind((given, state), Ref)):
        return
    wanted = parameters.named(interp, module, buffers=True)
    if wanted is None or is_open(interp, module):
        return
    strict, hidden = interp.truth(call.given(1, "strict", True)), _hidden(state)
    shapes = {key: tensor for key, tensor in wanted if not key.startswith(hidden)}
    missing = tuple(key for key in shapes if key not in held) if strict else ()
    unexpected = tuple(key for key in held if key not in dict(wanted)) if strict else ()
    sizes = []
    for key, tensor in shapes.items():
        one = held.get(key)
        got = interp.resolved_spec(one.spec).shape if isinstance(one, Tensor) else None
        own = interp.resolved_spec(tensor.spec).shape
        known = got is not None and own is not None and all_are((*got, *own), int)
        if known and got is not None and own is not None and got != own and not (own == () and len(got) == 1):
            sizes.append((key, got, own))
    nothing = (
        strict is False
        and bool(held and shapes)
        and len(shapes) == len(wanted)
        and not any(key in shapes for key in held)
    )
    if nothing:
        missing = tuple(shapes)
    site = interp.site(call.node, call.frame)
    if (missing or unexpected or sizes) and ("state", site.span) not in interp.failures_seen:
        interp.failures_seen.add(("state", site.span))
        fault = StateFault(site, module, given, missing, unexpected, tuple(sizes), tuple(held), nothing)
        interp.trace.states.append(fault)


def has_renamed(interp: Interpreter) -> bool:
    """Whether something was called under which parameters have other names, and modules other attributes."""
    return any(call.name in RENAMES and not call.receiver for call in interp.trace.calls)


def is_open(interp: Interpreter, module: Value) -> bool:
    """Whether a module may have other names for its parameters, or a way of its own to load them."""
    if has_renamed(interp) or interp.trace.changes_states:
        return True
    if hierarchy.has_unknown_parts(module):
        return True
    parts = of_kind(hierarchy.descendants(module), Instance)
    return decides(interp, module) or any(part.state.get("open") for part in parts) or interp.entry_point is not None


def decides(interp: Interpreter, module: Value) -> bool:
    """Whether the class of a module, or of a part of it, decides itself what its state is."""
    classes = {part.cls for part in of_kind(hierarchy.descendants(module), Instance)}
    return any(interp.class_attribute(cls, name) is not MISSING for cls in classes for name in _OWN)


def _hidden(state: Value) -> tuple[str, ...]:
    """The beginnings that names of a state may have beside those that are known of it."""
    of = state.slots.get("state") if isinstance(state, DictValue) else None
    return tuple(hierarchy.unknown_names(of.args[0])) if is_object(of, hierarchy.STATE) else ()


__all__ = ["RENAMES", "check", "decides", "has_renamed", "is_open"]

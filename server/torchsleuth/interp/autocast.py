"""Autocast regions: in which dtypes the operators on each kind of device may work there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeGuard

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors.device import Device, parse
from torchsleuth.tensors.spec import Autocast, DType, ListSpec, PartCall, Result, StructSpec, TensorSpec
from torchsleuth.values import UNKNOWN, Choice, LibraryObject, Scalar, Value, is_unknown

Regions = dict[str, tuple[str | None, ...]]
"""For each kind of device the dtypes that may be in effect, None for none. Under a region of "an accelerator, where there
is one" the CPU has two entries: `_without` says what holds where there is none."""
OFF: tuple[str | None, ...] = (None,)
_WITHOUT = "cpu without "
_DEFAULTS = {"cuda": "float16", "cpu": "bfloat16"}
_HALVES = ("float16", "bfloat16")


def entered(regions: Regions, manager: Value, truth: Callable[[Value], bool | None]) -> Regions:
    """The autocasts in effect inside of ``with manager``. An unknown manager may be an autocast of any kind."""
    if isinstance(manager, Choice):
        return _either([entered(regions, option, truth) for option in manager.options])
    if is_unknown(manager):
        return _either([regions, {kind: (dtype,) for kind, dtype in _DEFAULTS.items()}])
    if not is_autocast(manager):
        return regions
    enabled = truth(_enabled(manager))
    kinds = _kinds(manager)
    made = {kind: dtypes for kind, dtypes in regions.items() if "cpu" not in kinds or not kind.startswith(_WITHOUT)}
    for kind in kinds:
        inside = (*(_dtypes(manager, kind) if enabled is not False else ()), *(OFF if enabled is not True else ()))
        if kind == "cpu" and len(kinds) == 2:
            made[_without(kinds[0])] = tuple(dict.fromkeys(inside))
        # Which kind it is depends on the machine: elsewhere, what was in effect stays so.
        outside = regions.get(kind, OFF) if len(kinds) > 1 and kind != kinds[0] else ()
        made[kind] = tuple(dict.fromkeys((*inside, *outside)))
    return made


def _either(regions: list[Regions]) -> Regions:
    """The autocasts in effect where one of several may have been entered."""
    kinds = dict.fromkeys(kind for region in regions for kind in region)
    return {kind: tuple(dict.fromkeys(dtype for region in regions for dtype in _of(region, kind))) for kind in kinds}


def _of(regions: Regions, kind: str) -> tuple[str | None, ...]:
    return regions.get(kind, regions.get("cpu", OFF) if kind.startswith(_WITHOUT) else OFF)


def _without(accelerator: str) -> str:
    return f"{_WITHOUT}{accelerator}"


def is_autocast(manager: Value) -> TypeGuard[LibraryObject]:
    return isinstance(manager, LibraryObject) and manager.path.startswith("torch.") and manager.type_name == "autocast"


def _enabled(manager: LibraryObject) -> Value:
    """The argument that says whether an autocast is in effect."""
    return manager.given(0 if _is_old(manager) else 2, "enabled", True)


def _is_old(manager: LibraryObject) -> bool:
    """``torch.cuda.amp.autocast`` and its like, which are of one kind of device: (enabled, dtype, …)."""
    return manager.path in ("torch.cuda.amp.autocast", "torch.cpu.amp.autocast")


def _kinds(manager: LibraryObject) -> tuple[str, ...]:
    if _is_old(manager):
        return (manager.path.split(".")[1],)
    given = manager.given(0, "device_type", UNKNOWN)
    place = as_kind(
        parse(given) if isinstance(given, str) else given.kind_of if isinstance(given, Scalar) else given, Device
    )
    if place is not None:
        return (place.kind, "cpu") if place.symbolic else (place.kind,)
    return ("cuda", "cpu", "mps", "xpu")


def _dtypes(manager: LibraryObject, kind: str) -> tuple[str | None, ...]:
    """In CUDA's autocast any dtype is taken; elsewhere one that is no half precision turns it off, with a warning."""
    given = manager.given(1, "dtype")
    if given is None:
        return (_DEFAULTS.get(kind, "float16"),)
    if not isinstance(given, DType):
        return _HALVES
    return (given.name,) if kind == "cuda" or given.name in _HALVES else OFF


def possible(regions: Regions, place: Device | None) -> tuple[Autocast | None, ...]:
    """The autocasts one of which an operator with operands at this place works under."""
    return _possible(tuple(regions.items()), place) if regions else (None,)


@lru_cache(maxsize=256)
def _possible(
    entered: tuple[tuple[str, tuple[str | None, ...]], ...], place: Device | None
) -> tuple[Autocast | None, ...]:
    regions = dict(entered)
    kinds = tuple(regions)
    if place is not None and place.symbolic:
        kinds = (place.kind, _without(place.kind))
    elif place is not None:
        kinds = (place.kind,)
    pairs = [(kind, dtype) for kind in kinds for dtype in _of(regions, kind)]
    found = [None if dtype is None else Autocast(kind.split()[0], dtype) for kind, dtype in pairs]
    return tuple(dict.fromkeys(found if place is not None else (None, *found)))


def common(outcomes: list[Any]) -> Any:
    """The common result of operators under different autocasts; None where that is not even the structure."""
    results = of_kind(outcomes, Result)
    if not results:
        return outcomes[0]
    values = [result.value for result in results]
    if all(value == values[0] for value in values):
        return results[0]
    try:
        return Result(_common(values), results[0].facts)
    except ValueError:
        return None


def _common(values: list[Any]) -> Any:
    """Raises ValueError."""
    first = values[0]
    if all(value == first for value in values):
        return first
    if any(type(value) is not type(first) for value in values):
        raise ValueError
    match first:
        case TensorSpec():
            if len({len(value.shape) for value in values}) > 1 or any(value.shape != first.shape for value in values):
                raise ValueError
            return first.with_(dtype=first.dtype if len({value.dtype for value in values}) == 1 else None, strides=None)
        case tuple() if len({len(value) for value in values}) == 1:
            return tuple(_common(list(items)) for items in zip(*values))
        case StructSpec():
            return replace(first, items=_common([value.items for value in values]))
        case PartCall() if len({value.part for value in values}) == 1:
            kwargs = _common([value.kwargs for value in values])
            return PartCall(first.part, _common([value.args for value in values]), kwargs)
        case ListSpec():
            return ListSpec(_common([value.items for value in values]))
    raise ValueError

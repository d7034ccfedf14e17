"""Autocast regions: in which dtypes the operators on each kind of device may work there."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from torchsleuth.interp.values import UNKNOWN, Choice, LibraryObject, Value
from torchsleuth.tensors.device import Device, parse
from torchsleuth.tensors.spec import Autocast, DType, ListSpec, PartCall, Result, StructSpec, TensorSpec

Regions = dict[str, tuple[str | None, ...]]
"""For each kind of device the dtypes that may be in effect, None for none. Under a region of "an accelerator, where there
is one" the CPU has two entries: `_without` says what holds where there is none."""
OFF: tuple[str | None, ...] = (None,)
_WITHOUT = "cpu without "
_DEFAULTS = {"cuda": "float16", "cpu": "bfloat16"}
_HALVES = ("float16", "bfloat16")


def entered(regions: Regions, manager: Value, enabled: bool | None) -> Regions:
    """What holds inside of ``with manager``. An unknown manager may be an autocast of any kind."""
    if manager is UNKNOWN or isinstance(manager, Choice):
        return {kind: tuple(dict.fromkeys((*regions.get(kind, OFF), dtype))) for kind, dtype in _DEFAULTS.items()}
    if not is_autocast(manager):
        return regions
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


def _without(accelerator: str) -> str:
    return f"{_WITHOUT}{accelerator}"


def is_autocast(manager: Value) -> bool:
    return isinstance(manager, LibraryObject) and manager.path.startswith("torch.") and manager.type_name == "autocast"


def enabled_of(manager: Value) -> Value:
    """The argument that says whether an autocast is in effect."""
    if not is_autocast(manager):
        return True
    return manager.argument(0 if _is_old(manager) else 2, "enabled", True)


def _is_old(manager: LibraryObject) -> bool:
    """``torch.cuda.amp.autocast`` and its like, which are of one kind of device: (enabled, dtype, …)."""
    return manager.path in ("torch.cuda.amp.autocast", "torch.cpu.amp.autocast")


def _kinds(manager: LibraryObject) -> tuple[str, ...]:
    if _is_old(manager):
        return (manager.path.split(".")[1],)
    given = manager.argument(0, "device_type", UNKNOWN)
    place = parse(given) if isinstance(given, str) else given
    if isinstance(place, Device):
        return (place.kind, "cpu") if place.symbolic else (place.kind,)
    return ("cuda", "cpu", "mps", "xpu")


def _dtypes(manager: LibraryObject, kind: str) -> tuple[str, ...]:
    given = manager.argument(1, "dtype")
    if given is None:
        return (_DEFAULTS.get(kind, "float16"),)
    return (given.name,) if isinstance(given, DType) else _HALVES


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
        elsewhere = _without(place.kind)
        kinds = (place.kind, elsewhere if elsewhere in regions else "cpu")
    elif place is not None:
        kinds = (place.kind,)
    pairs = [(kind, dtype) for kind in kinds for dtype in regions.get(kind, OFF)]
    found = [None if dtype is None else Autocast(kind.split()[0], dtype) for kind, dtype in pairs]
    return tuple(dict.fromkeys(found if place is not None else (None, *found)))


def common(outcomes: list[Any]) -> Any:
    """What operators under different autocasts agree on; None where that is not even the structure."""
    results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
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
    if isinstance(first, TensorSpec):
        if len({len(value.shape) for value in values}) > 1 or any(value.shape != first.shape for value in values):
            raise ValueError
        return first.with_(dtype=first.dtype if len({value.dtype for value in values}) == 1 else None, strides=None)
    if isinstance(first, tuple) and len({len(value) for value in values}) == 1:
        return tuple(_common(list(items)) for items in zip(*values))
    if isinstance(first, StructSpec):
        return StructSpec(first.fields, _common([value.items for value in values]))
    if isinstance(first, PartCall) and len({value.part for value in values}) == 1:
        kwargs = _common([value.kwargs for value in values])
        return PartCall(first.part, _common([value.args for value in values]), kwargs)
    if isinstance(first, ListSpec):
        return ListSpec(_common([value.items for value in values]))
    raise ValueError

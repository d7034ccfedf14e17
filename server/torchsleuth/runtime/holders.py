"""Holders of memory when there is no more of it: the names of the user's frames, with the bytes that they keep alive.

Read once, from a script that has failed already. Each storage counts for the name that is found first: modules, then
optimizers, then what is left, and the graph behind a tensor after all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from torchsleuth.runtime.graphs import Graph
from torchsleuth.runtime.values import is_module, is_tensor

MAX_NAMES = 200
MAX_PARTS = 20_000
"""Tensors and containers that are looked into, of all names together."""
MAX_SHOWN = 5
SHARE = 0.02
"""Of what is held in all, below which a name is not listed."""
_SAVED = "_saved_"


def is_out_of_memory(message: str) -> bool:
    return "out of memory" in message or "you tried to allocate" in message


def holders(frames: Sequence[FrameType]) -> list[dict[str, Any]]:
    """[{name, frame, bytes, tensors, graph}], the largest first. `frames`: the user's, the innermost first; `graph`: the bytes
    are those of tensors that backward would need, rather than of the value itself."""
    seen: set[int] = set()
    left = [MAX_PARTS]
    found: list[dict[str, Any]] = []
    names = list(_names(frames))[:MAX_NAMES]
    for name, number, value in sorted(names, key=lambda item: _order(item[2])):
        sizes = [size for tensor in _tensors(value, left) if (size := _counted(tensor, seen)) > 0]
        found.append({"name": name, "frame": number, "bytes": sum(sizes), "tensors": len(sizes), "graph": False})
    for name, number, value in names:
        sizes = [size for tensor in _behind(value) if (size := _counted(tensor, seen)) > 0]
        found.append({"name": name, "frame": number, "bytes": sum(sizes), "tensors": len(sizes), "graph": True})
    total = sum(item["bytes"] for item in found)
    large = [item for item in found if item["bytes"] > SHARE * total]
    return sorted(large, key=lambda item: -item["bytes"])[:MAX_SHOWN]


def _names(frames: Sequence[FrameType]) -> Iterator[tuple[str, int, Any]]:
    known: set[tuple[str, int]] = set()
    for number, frame in enumerate(frames):
        scopes = [frame.f_locals] if frame.f_locals is frame.f_globals else [frame.f_locals, frame.f_globals]
        for scope in scopes:
            for name, value in list(scope.items()):
                if not name.startswith("__") and (name, id(value)) not in known:
                    known.add((name, id(value)))
                    yield from ((part, number, held) for part, held in _opened(name, value))


def _opened(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of ``self``, where it is no module."""
    held = getattr(value, "__dict__", None)
    if name == "self" and type(held) is dict and not is_module(value):
        yield from ((f"self.{attribute}", item) for attribute, item in list(held.items()))
    else:
        yield name, value


def _order(value: Any) -> int:
    return 0 if is_module(value) else 1 if _is_optimizer(value) else 2


def _is_optimizer(value: Any) -> bool:
    held = getattr(value, "__dict__", None)
    return type(held) is dict and "param_groups" in held and "state" in held


def _tensors(value: Any, left: list[int]) -> Iterator[Any]:
    """The tensors in a value: itself, its items, its parameters, buffers and gradients, the state of an optimizer."""
    waiting = [value]
    met: set[int] = set()
    while waiting and left[0] > 0:
        part = waiting.pop()
        if id(part) in met:
            continue
        met.add(id(part))
        left[0] -= 1
        if is_tensor(part):
            yield part
            if part.is_leaf and part.grad is not None:
                waiting.append(part.grad)
        elif is_module(part):
            held = part.__dict__
            for store in ("_parameters", "_buffers", "_modules"):
                waiting += list((held.get(store) or {}).values())
        elif _is_optimizer(part):
            waiting.append(part.__dict__["state"])
        elif type(part) in (list, tuple, set, frozenset):
            waiting += list(part)
        elif isinstance(part, dict):
            waiting += list(dict.values(part))


def _behind(value: Any) -> Iterator[Any]:
    """The bytes that the graphs behind a tensor, or behind those of a list, keep for backward."""
    parts = list(value)[:MAX_NAMES] if type(value) in (list, tuple) else [value]
    for part in parts:
        root = part.grad_fn if is_tensor(part) else None
        for node in Graph(root).nodes if root is not None else ():
            for name in dir(node.function):
                if name.startswith(_SAVED):
                    yield from _saved(node.function, name)


def _saved(function: Any, name: str) -> Iterator[Any]:
    raw = getattr(function, f"_raw{name}", None)
    if raw is None or getattr(raw, "unpack_hook", None) is not None:
        return
    try:
        value = getattr(function, name)
    except RuntimeError:  # changed in place since, or freed
        return
    if is_tensor(value):
        yield value


def _counted(tensor: Any, seen: set[int]) -> int:
    """The bytes of a tensor's storage, 0 if it was counted before."""
    try:
        storage = tensor.untyped_storage()
        key, size = storage.data_ptr(), int(storage.nbytes())
    except Exception:  # no storage: sparse, fake or on the meta device
        return 0
    if key in seen or key == 0:
        return 0
    seen.add(key)
    return size

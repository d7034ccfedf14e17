"""Finds lists of the user's whose tensors are all one memory: a buffer that was filled again and kept each time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from torchsleuth.runtime.kept import held_by_user, is_sequence
from torchsleuth.runtime.places import Places

FEWEST = 4
MOST = 64
"""Items that are looked at, from the beginning."""


def in_one_memory(torch: Any, own: Places, value: Any) -> tuple[str, int] | None:
    """The name of a list in which every item, a tensor or a record of some, has a tensor of its own that shows the memory of a value,
    all of them the same part of it; and how many items there are."""
    memory = value.untyped_storage().data_ptr()
    for name, held in held_by_user(own):
        if not is_sequence(held) or len(held) < FEWEST:
            continue
        shown = [next(_in_memory(torch, item, memory), None) for item in islice(held, MOST)]
        views = [(one.storage_offset(), one.shape, one.stride()) for one in shown if one is not None]
        objects = {id(one) for one in shown}
        if memory and len(views) == len(objects) == len(shown) and all(view == views[0] for view in views):
            return name, len(held)
    return None


def _in_memory(torch: Any, item: Any, memory: int) -> Iterator[Any]:
    parts = [item] if type(item) is torch.Tensor else _parts(item)
    for part in parts:
        if type(part) is torch.Tensor and part.layout == torch.strided and part.device.type != "meta":
            if part.untyped_storage().data_ptr() == memory:
                yield part


def _parts(item: Any) -> list[Any]:
    if isinstance(item, tuple | list):
        return list(item[:MOST])
    held = item if type(item) is dict else getattr(item, "__dict__", None)
    return list(held.values())[:MOST] if type(held) is dict else []

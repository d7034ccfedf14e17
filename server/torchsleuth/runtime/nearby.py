"""Which numbers in the variables around a backward() are not finite, to find the assignment that made the first of them."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from torchsleuth.runtime import statistics
from torchsleuth.runtime.places import Places
from torchsleuth.runtime.registry import file_of

MAX_FRAMES = 3
MAX_NAMES = 80


def numbers_nearby(torch: Any, own: Places, may_read: Callable[[Any], bool]) -> list[dict[str, Any]]:
    """The tensors of floats that the names of the user's innermost frames stand for. To be called once, without modes."""
    frame: FrameType | None = own.frame()
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < MAX_FRAMES:
        if own.is_own(frame.f_code):
            held = [(name, value) for name, value in list(frame.f_locals.items()) if may_read(value)][:MAX_NAMES]
            tensors = {name: _range(torch, value) for name, value in held if value.is_floating_point()}
            found.append({"path": file_of(frame.f_code), "line": frame.f_lineno, "tensors": tensors})
        frame = frame.f_back
    return found


def _range(torch: Any, value: Any) -> dict[str, Any]:
    known = statistics.summary(torch, value)
    return {"low": known["low"], "high": known["high"], "bad": known["bad"], "elements": value.numel()}

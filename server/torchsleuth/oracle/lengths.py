"""Operators on sequences that take a number for a length which is a symbol, as the same operators on images, which do not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


def any_length(name: str) -> contextlib.AbstractContextManager[Any]:
    """The name under which an operator of this name is evaluated."""
    return _AsImages() if name in _NAMES else contextlib.nullcontext()


class _AsImages(TorchFunctionMode):
    """Pools a sequence of symbolic length as an image that is one high."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(zip(_PARAMETERS, args)) | (kwargs or {}) if func in _POOLS else {}
        sequence = given.get("input")
        if (
            not isinstance(sequence, torch.Tensor)
            or sequence.dim() not in (2, 3)
            or isinstance(sequence.shape[-1], int)
        ):
            return func(*args, **(kwargs or {}))
        kernel, padding, dilation = (_size(given.get(name, usual)) for name, usual in _WINDOWS)
        stride = _size(given.get("stride") or given["kernel_size"])
        if None in (kernel, stride, padding, dilation) or given.get("return_indices"):
            return func(*args, **(kwargs or {}))
        image, window, rate = sequence.unsqueeze(-2), (1, kernel), (1, stride)
        whole = bool(given.get("ceil_mode", False))
        return torch.max_pool2d(image, window, rate, (0, padding), (1, dilation), whole).squeeze(-2)


_NAMES = frozenset({"MaxPool1d", "max_pool1d"})
_POOLS = (torch.max_pool1d, torch.nn.functional.max_pool1d)
_PARAMETERS = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
_WINDOWS = (("kernel_size", None), ("padding", 0), ("dilation", 1))


def _size(value: Any) -> Any:
    """A number, also as the only one of several; None for what a sequence has not."""
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    return parts[0] if len(parts) == 1 else None


__all__ = ["any_length"]

"""Runs operators under autocast. Of another kind of device than the CPU there are fake tensors alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from torchsleuth.tensors.spec import Autocast


@contextlib.contextmanager
def casting(cast: Autocast | None) -> Iterator[None]:
    """Autocast as asked, off on all other kinds of devices; on the CPU, too, where real tensors stand in for others."""
    kinds = ("cpu",) if cast is None else tuple({"cpu", cast.device})
    before = [(kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in kinds]
    cached = torch.is_autocast_cache_enabled()
    try:
        torch.set_autocast_cache_enabled(False)
        for kind in kinds:
            torch.set_autocast_enabled(kind, cast is not None)
            if cast is not None:
                torch.set_autocast_dtype(kind, getattr(torch, cast.dtype))
        yield
    finally:
        torch.set_autocast_cache_enabled(cached)
        for kind, enabled, dtype in before:
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, dtype)


def moved(module: torch.nn.Module, device: str) -> torch.nn.Module:
    """A module of fake tensors with its parameters on another device: ``module.to`` would need that device."""
    made: dict[torch.Tensor, torch.Tensor] = {}

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        if tensor not in made:
            empty = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            made[tensor] = torch.nn.Parameter(empty, False) if is_parameter else empty
        return made[tensor]

    for part in module.modules():
        for name, parameter in list(part.named_parameters(recurse=False)):
            setattr(part, name, copy(parameter))
        for name, buffer in list(part.named_buffers(recurse=False)):
            setattr(part, name, copy(buffer))
    return module

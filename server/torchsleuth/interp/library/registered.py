"""All modules that register models, imported at one place."""

from torchsleuth.interp.library import (
    clocks,
    data,
    distributions,
    einops,
    external,
    files,
    functions,
    hooks,
    optim,
    packed,
    published,
    state_dicts,
    torch_calls,
    transforms,
    vision,
)

__all__ = [
    "clocks",
    "data",
    "distributions",
    "einops",
    "external",
    "files",
    "functions",
    "hooks",
    "optim",
    "packed",
    "published",
    "state_dicts",
    "torch_calls",
    "transforms",
    "vision",
]

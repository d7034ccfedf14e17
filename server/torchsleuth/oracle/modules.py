"""Builds library modules (nn.Linear, nn.LSTM, nn.TransformerEncoderLayer …) from their recipes."""

from __future__ import annotations

from typing import Any

import torch

from torchsleuth.oracle import gate
from torchsleuth.oracle.autocast import casting
from torchsleuth.tensors.spec import ModuleSpec, Native

_WITH_ACTIVATION = frozenset({"Transformer", "TransformerEncoderLayer", "TransformerDecoderLayer"})
"""Layers that take a function, or its name, for what is applied to each element between their two linear layers."""
_ELEMENTWISE = frozenset(
    "relu relu_ relu6 gelu silu mish elu selu celu leaky_relu tanh sigmoid softplus softsign hardswish hardsigmoid hardtanh "
    "logsigmoid tanhshrink softshrink".split()
)


def _activation(value: Any) -> Any:
    """A function of torch's own as the name that these layers know: functions are no arguments. What is applied to each
    element makes no difference to sizes and dtypes."""
    if isinstance(value, Native) and value.kind == "function" and value.path.startswith("torch."):
        name = value.path.rpartition(".")[2]
        return "gelu" if name == "gelu" else "relu" if name in _ELEMENTWISE else value
    return value


def construct(recipe: ModuleSpec, convert: Any) -> torch.nn.Module:
    """The module of a recipe; `convert` turns argument specs into Python values.

    Inside a fake mode the parameters are fake. Raises whatever the constructor raises.
    """
    cls = gate.layer(recipe.path)
    if recipe.path.rpartition(".")[2] in _WITH_ACTIVATION:
        plain, convert = convert, lambda value: plain(_activation(value))
    args = [convert(argument) for argument in recipe.args]
    kwargs = {name: convert(argument) for name, argument in recipe.kwargs}
    with casting(None):
        module: torch.nn.Module = cls(*args, **kwargs)
    if recipe.dtype is not None:
        cast(module, getattr(torch, recipe.dtype))
    if not recipe.requires_grad:
        module.requires_grad_(False)
    module.train(recipe.training)
    return module


def cast(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """``module.to(dtype)``, which cannot replace fake parameters."""
    made: dict[torch.Tensor, torch.Tensor] = {}
    for part in module.modules():
        for name, parameter in part.named_parameters(recurse=False):
            if parameter.is_floating_point() and parameter.dtype != dtype:
                if parameter not in made:
                    made[parameter] = torch.nn.Parameter(parameter.detach().to(dtype), parameter.requires_grad)
                setattr(part, name, made[parameter])
        for name, buffer in part.named_buffers(recurse=False):
            if buffer.is_floating_point() and buffer.dtype != dtype:
                setattr(part, name, buffer.to(dtype))

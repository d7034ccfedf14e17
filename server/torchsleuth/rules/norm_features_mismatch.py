"""norm-features-mismatch: a normalisation layer built for another number of features.

What it finds
    BatchNorm, LayerNorm, GroupNorm and InstanceNorm whose `num_features` or `normalized_shape` is not the input's.
Why it hurts
    PyTorch stops with "running_mean should contain 24 elements not 48".
Example
    nn.BatchNorm2d(48)(torch.randn(4, 24, 8, 8))
Use instead
    nn.BatchNorm2d(24)
Fix safety
    Safe: the layer is given the size that its input has.
References
    torch.nn.BatchNorm2d, torch.nn.LayerNorm
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.rules.constructors import change_argument
from torchsleuth.rules.operators import failures, generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS109"
_ARGUMENT = {
    "BatchNorm": ("num_features", 1),
    "InstanceNorm": ("num_features", 1),
    "LayerNorm": ("normalized_shape", -1),
    "GroupNorm": ("num_channels", 1),
}
"""Layer name prefix → the constructor argument at fault and the dimension of the input that it must equal."""
_POSITION = {"num_channels": 1}


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, finding in zip(failures(analysis, CODE), list(generic(analysis, CODE))):
        module, specs = failure.operation.module, failure.operation.specs
        argument = next(
            (pair for prefix, pair in _ARGUMENT.items() if module and module.type_name.startswith(prefix)), None
        )
        if module is not None and argument is not None and specs and specs[0].shape:
            name, axis = argument
            shape = specs[0].shape
            wanted = shape[axis] if axis < len(shape) else None
            if isinstance(wanted, int):
                candidates = tuple(change_argument(analysis, module, _POSITION.get(name, 0), name, wanted))
                finding = replace(finding, candidates=candidates)
        yield finding


RULE = Rule(CODE, "norm-features-mismatch", "error", "shape", __doc__, find)

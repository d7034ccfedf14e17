"""How many classes the pixels of a mask have: as many as a network has scores for each."""

from __future__ import annotations

from torchsleuth.rules.rule import Analysis
from torchsleuth.tensors.dims import is_number

_LOSSES = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})


def classes_of_pixels(analysis: Analysis) -> int:
    """The most classes that a loss compares pixels with; 0 where it is not known of any."""
    counts = []
    for operation in analysis.trace.operations:
        shape = operation.operands[0].spec.shape if operation.name in _LOSSES and operation.operands else None
        if shape is not None and len(shape) > 3 and is_number(shape[1]):
            counts.append(int(shape[1]))
    return max(counts, default=0)

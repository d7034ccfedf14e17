"""Ratios that measure how far a prediction and a mask overlap: the sum of products over the sum of sums."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.values import Tensor

_PRODUCTS = frozenset({"mul", "multiply"})
_SHIFTS = frozenset({"mul", "multiply", "add", "sub", "clamp", "clamp_min"})
_MAX_STEPS = 12


def overlaps(quotient: Operation) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The product, the prediction and the mask of which the sums are in a quotient, in both orders."""
    if len(quotient.operands) != 2:
        return
    above, below = ({id(part): part for part in _summed(one)} for one in quotient.operands)
    for product in above.values():
        origin = product.origin
        if origin is None or origin.bare_name not in _PRODUCTS or len(origin.sources) != 2:
            continue
        for prediction, mask in (origin.sources, origin.sources[::-1]):
            if id(prediction) in below and id(mask) in below and prediction is not mask:
                yield product, prediction, mask


def overlap(quotient: Operation) -> Tensor | None:
    """The prediction whose overlap with a mask a quotient measures."""
    found = (one for _, one, mask in overlaps(quotient) if one.spec.requires_grad and mask.spec.requires_grad is False)
    return next(found, None)


def _summed(tensor: Tensor) -> Iterator[Tensor]:
    """Those of which the sums are taken that a value is the sum of."""
    pending = [tensor]
    for _ in range(_MAX_STEPS):
        origin = pending.pop().origin if pending else None
        if origin is None:
            continue
        if origin.bare_name == "sum" and len(origin.sources) == 1:
            yield origin.sources[0]
        elif origin.bare_name in _SHIFTS:
            pending += origin.sources

"""Numbers about tensors, computed by few operators and read in one go. To be called without modes and gradients.

No function here draws random numbers, and none changes what it gets.
"""

from __future__ import annotations

import math
import sys
from typing import Any

MAX_ELEMENTS = 4_000_000
SLICE = 4096
"""Elements of a parameter that are compared from step to step."""
MAX_LABELS = 64


def readable(torch: Any, value: Any) -> bool:
    """Whether a tensor has numbers that may be looked at."""
    return bool(
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and value.device.type != "meta"
        and 0 < value.numel() <= MAX_ELEMENTS
        and not value.is_quantized
        and not value.is_complex()
    )


def part(value: Any) -> Any:
    """Some elements of a tensor, spread over it: a view."""
    flat = value.detach().reshape(-1) if value.is_contiguous() else value.detach().flatten()
    return flat[:: max(1, -(-flat.numel() // SLICE))]


Away = tuple[Any, Any, tuple[int, ...]]


def put_away(value: Any) -> Away:
    """A copy of a tensor that is none itself: who counts the tensors that there are does not find it."""
    copied = value.clone(memory_format=sys.modules["torch"].contiguous_format)
    return copied.untyped_storage(), copied.dtype, tuple(copied.shape)


def taken_out(torch: Any, away: Away) -> Any:
    """The tensor that was put away."""
    storage, dtype, shape = away
    return torch.empty(0, dtype=dtype, device=storage.device).set_(storage, 0, shape)


def number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def numbers(torch: Any, scalars: list[Any]) -> list[float]:
    """Tensors of one element as floats, with one synchronisation for each device."""
    if not scalars:
        return []
    devices = {scalar.device for scalar in scalars}
    if len(devices) == 1:
        return [float(value) for value in torch.stack([scalar.float().reshape(()) for scalar in scalars]).tolist()]
    return [float(scalar) for scalar in scalars]


def summary(torch: Any, value: Any) -> dict[str, Any]:
    """Mean, standard deviation and range of the finite elements, and how many are not finite."""
    value = value.detach()
    if value.dtype == torch.bool:
        value = value.to(torch.uint8)
    floating = value.is_floating_point()
    low, high = numbers(torch, list(torch.aminmax(value)))
    bad = 0
    if floating and not (math.isfinite(low) and math.isfinite(high)):
        finite = value[torch.isfinite(value)]
        bad = value.numel() - finite.numel()
        if not finite.numel():
            return {"low": None, "high": None, "mean": None, "std": None, "bad": bad}
        value = finite
        low, high = numbers(torch, list(torch.aminmax(value)))
    std, mean = torch.std_mean(value.float() if value.dtype != torch.float64 else value, correction=0)
    mean, std = numbers(torch, [mean, std])
    return {"low": low, "high": high, "mean": number(mean), "std": number(std), "bad": bad}


def labels(torch: Any, value: Any) -> dict[str, int] | None:
    """How often each class occurs in integers, or in floats that are few whole numbers."""
    value = value.detach()
    if value.numel() > 100_000:
        return None
    if value.is_floating_point() and not bool((value == value.round()).all()):
        return None
    found, counts = torch.unique(value, return_counts=True)
    if found.numel() > MAX_LABELS:
        return None
    return {str(int(label)): int(count) for label, count in zip(found.tolist(), counts.tolist())}


def rows_equal(torch: Any, value: Any) -> bool:
    """Whether all samples of a batch are one, but for rounding. False for fewer than four."""
    found = spread(torch, value)
    return found is not None and found <= 1e-5


def spread(torch: Any, value: Any) -> float | None:
    """How far the samples of a batch are from the first one at most, relative to the largest number; None for fewer than four."""
    if value.dim() < 1 or value.shape[0] < 4:
        return None
    value = value.detach().float().reshape(value.shape[0], -1)
    apart, size = numbers(torch, [(value - value[:1]).abs().max(), value.abs().max()])
    return apart / size if math.isfinite(apart) and size else 0.0 if apart == 0 else None


def distance(torch: Any, value: Any) -> float | None:
    """How far the samples of a batch are from their mean, relative to their size, on the average; None for fewer than four."""
    if value.dim() < 1 or value.shape[0] < 4:
        return None
    value = value.detach().float().reshape(value.shape[0], -1)
    apart, size = numbers(torch, [(value - value.mean(0)).norm(dim=1).mean(), value.norm(dim=1).mean()])
    return apart / size if math.isfinite(apart) and size else 0.0 if apart == 0 else None


def units(torch: Any, value: Any, axis: int) -> dict[str, Any]:
    """The share of zeros in the output of a ReLU, and of units that are zero in the whole batch."""
    zero = value.detach() == 0
    others = [dim for dim in range(value.dim()) if dim != axis % value.dim()]
    dead = zero.all(dim=others) if others else zero
    share, of_units = numbers(torch, [zero.float().mean(), dead.float().mean()])
    enough = value.numel() / max(value.shape[axis], 1) >= 8
    return {"zeros": share, "dead": of_units if enough else None}


def saturated(torch: Any, value: Any, function: str) -> float:
    """The share of elements at the bounds of a sigmoid or tanh."""
    size = value.detach().abs() if function == "tanh" else (value.detach() - 0.5).abs() * 2
    return numbers(torch, [(size > 0.98).float().mean()])[0]


def predictions(torch: Any, value: Any, target: Any, kind: str | None) -> dict[str, Any]:
    """How often each class has the largest score, and the share of samples, or places in them, for which it is the right one."""
    value = value.detach()
    if kind in ("cross_entropy", "nll") and value.dim() >= 2 and 2 <= value.shape[1] <= MAX_LABELS:
        chosen = value.argmax(1)
    elif (
        kind in ("bce_with_logits", "bce")
        and target is not None
        and value.dim() > 0
        and (value.shape[-1] > 1 or value.numel() == len(value))
    ):
        chosen = (value > (0.5 if kind == "bce" else 0.0)).long().flatten()
    else:
        return {}
    right = None
    if target is not None and target.numel() == chosen.numel() and readable(torch, target):
        right = numbers(torch, [(chosen.flatten() == target.detach().flatten()).float().mean()])[0]
    return {"labels": labels(torch, chosen), "right": right}

"""The values at recorded places: range, mean and elements that are not finite, looked at in some training steps only.

A round of samples is taken at the first execution of each place, and again after the optimizer steps 1, 2, 4, 8, …, and when
enough time has passed that the rounds cost no more than one part in `SHARE` of the run.
"""

from __future__ import annotations

import math
import time
from typing import Any

SHARE = 50
INTERVAL_SECONDS = 2.0
"""Time between two rounds, at least."""
MAX_ELEMENTS = 4_000_000
"""Of a tensor whose values are looked at."""


class Samples:
    """The values at each place. `of` gives them for the report: the numbers are None where they are not finite."""

    def __init__(self) -> None:
        self._torch: Any = None
        self._hook: Any = None
        self._of: dict[int, dict[str, Any]] = {}
        self._seen: set[int] = set()
        self._steps = 0
        self._cost = 0.0
        self._next = math.inf
        self._on_round: Any = None

    def install(self, torch: Any, optimizers: Any, on_round: Any) -> None:
        """`on_round` is called when a round begins: all places are to be shown again."""
        self._torch, self._on_round = torch, on_round
        self._hook = optimizers.register_optimizer_step_post_hook(self._stepped)

    def remove(self) -> None:
        """No hook of ours is left."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def of(self, site: int) -> dict[str, Any] | None:
        return self._of.get(site)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """After a step of any optimizer."""
        if self._torch.compiler.is_compiling():
            return
        self._steps += 1
        now = time.monotonic()
        if self._steps & (self._steps - 1) == 0 or now >= self._next:
            self._next = now + max(INTERVAL_SECONDS, SHARE * self._cost)
            self._cost = 0.0
            self._seen.clear()
            self._on_round()

    def take(self, site: int, value: Any) -> None:
        """Look at a tensor, once in a round. Outside of modes, transforms and traces only: see `recorder.untouchable_in`."""
        torch = self._torch
        if torch is None or site in self._seen:
            return
        self._seen.add(site)
        if not self._may_look(value):
            return
        began = time.monotonic()
        with torch._C.DisableTorchFunction(), torch.no_grad():
            found = _statistics(torch, value.detach())
        self._cost += time.monotonic() - began
        known = self._of.get(site)
        if known is None:
            self._of[site] = {
                "count": 1,
                "first": found,
                "last": found,
                "bad": found["bad"],
                "low": found["low"],
                "high": found["high"],
            }
        else:
            known["count"] += 1
            known["last"] = found
            known["bad"] = max(known["bad"], found["bad"])
            for name, choose in (("low", min), ("high", max)):
                both = [number for number in (known[name], found[name]) if number is not None]
                known[name] = choose(both) if both else None

    def _may_look(self, value: Any) -> bool:
        """Whether it has values, few enough, and nobody watches which operators are called."""
        torch = self._torch
        return bool(
            value.layout == torch.strided
            and value.device.type != "meta"
            and 0 < value.numel() <= MAX_ELEMENTS
            and value.dtype != torch.bool
            and not value.is_quantized
            and not value.is_complex()
            and not torch.autograd._profiler_enabled()
            and not (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())
        )


def _statistics(torch: Any, value: Any) -> dict[str, Any]:
    """Range and mean of the finite elements, and how many are not finite."""
    low, high = (float(part) for part in torch.aminmax(value))
    bad = 0
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = value[torch.isfinite(value)]
        bad = value.numel() - finite.numel()
        value = finite
        low, high = (float(part) for part in torch.aminmax(finite)) if finite.numel() else (math.nan, math.nan)
    mean = float(value.mean(dtype=torch.float32)) if value.numel() else math.nan
    return {"low": _number(low), "high": _number(high), "mean": _number(mean), "bad": bad}


def _number(value: float) -> float | None:
    """A number as JSON can have it."""
    return value if math.isfinite(value) else None

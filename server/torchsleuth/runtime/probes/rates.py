"""Raises the learning rate from step to step, over all orders of magnitude, and notes the loss at each: the range test.

Batches go around without end, so that an epoch is long enough. Nothing is restored: the process ends with the probe.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.probes.loop import Loop, without_end_of_schedule

LOWEST, HIGHEST = 1e-7, 10.0
DIVERGED = 4.0
"""Times the lowest smoothed loss from which on nothing more is tried."""
SMOOTHING = 0.9


class Probe:
    """`settings`: {steps}."""

    def __init__(self, desk: Desk, settings: dict[str, Any]) -> None:
        self._desk = desk
        self._steps = settings["steps"]
        self._loop = Loop(desk)
        self._rates: list[float] = []
        self._losses: list[float] = []
        self._own: float | None = None
        self._bases: dict[int, float] = {}
        self._average = 0.0
        self._lowest = math.inf
        self._trained: weakref.WeakSet[Any] = weakref.WeakSet()
        self._optimizer: tuple[str, dict[str, Any] | None] | None = None

    def install(self, torch: Any) -> None:
        self._loop.install(torch)
        self._loop.exchange_batches(self._batches)
        self._loop.before_step = self._before_step
        self._loop.after_step = self._after_step
        without_end_of_schedule(torch)

    def ended(self) -> None:
        name, place = self._optimizer or (None, None)
        self._desk.tell(
            "lr",
            rates=self._rates[: len(self._losses)],
            losses=[loss if math.isfinite(loss) else None for loss in self._losses],
            own=self._own,
            optimizer=name,
            place=place or self._loop.place,
            backwards=self._loop.backwards,
            steps=len(self._losses),
            short=len(self._losses) < self._steps and not self._diverged() and bool(self._losses),
        )

    def _batches(self, loader: Any, iterate: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """Those of a loader that is trained with come again and again."""
        while True:
            some = False
            for batch in iterate(loader):
                before, some = self._loop.backwards, True
                yield batch
                if self._loop.backwards > before:
                    self._trained.add(loader)
            if not some or loader not in self._trained:
                return

    def _before_step(self, optimizer: Any) -> None:
        if self._optimizer is None:
            self._optimizer = (type(optimizer).__name__, self._desk.made_at(optimizer))
            for number, group in enumerate(optimizer.param_groups):
                self._bases[number] = float(group.get("max_lr", group.get("initial_lr", group.get("lr", 1.0))))
            self._own = max(self._bases.values(), default=None)
        part = len(self._losses) / max(self._steps - 1, 1)
        rate = LOWEST * (HIGHEST / LOWEST) ** min(part, 1.0)
        for number, group in enumerate(optimizer.param_groups):
            share = self._bases.get(number, 1.0) / self._own if self._own else 1.0
            old = group.get("lr")
            if isinstance(old, float | int):
                group["lr"] = rate * share
            elif old is not None:
                old.fill_(rate * share)
        self._rates.append(rate)

    def _after_step(self, loss: float | None) -> None:
        if loss is None or len(self._rates) <= len(self._losses):
            return
        self._losses.append(loss)
        self._average = SMOOTHING * self._average + (1 - SMOOTHING) * loss
        smoothed = self._average / (1 - SMOOTHING ** len(self._losses))
        self._lowest = min(self._lowest, smoothed)
        if len(self._losses) >= self._steps or self._diverged():
            self.ended()
            self._desk.stop()

    def _diverged(self) -> bool:
        if not self._losses:
            return False
        loss = self._losses[-1]
        first = self._losses[0]
        return not math.isfinite(loss) or len(self._losses) > 8 and loss > self._lowest + DIVERGED * abs(first)

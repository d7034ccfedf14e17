"""Gives the script its first training batch again and again: does the loss fall to near nothing?

Dropout and label smoothing are switched off for it, and learning rates are not lowered: neither is what it asks about.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.probes.loop import Loop, copied, without_end_of_schedule
from torchsleuth.runtime.probes.pinned import Pinned

LONGEST = 5
"""Times the number of steps asked for, while the loss still falls."""
NOTHING = 0.02
"""Part of the first loss below which nothing more is waited for."""
STILL = 0.95
"""The mean loss of the last eighth is less than this part of that of the eighth before: it still falls."""


class Probe:
    """`settings`: {steps}."""

    def __init__(self, desk: Desk, settings: dict[str, Any]) -> None:
        self._desk = desk
        self._steps = settings["steps"]
        self._loop = Loop(desk)
        self._losses: list[float] = []
        self._rates: dict[tuple[int, int], float] = {}
        self._last: weakref.WeakKeyDictionary[Any, tuple[Any, int]] = weakref.WeakKeyDictionary()
        """The last batch of each loader, and how often backward() had been called when it came."""
        self._kept: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._torch: Any = None
        self._pinned = Pinned(desk)
        self._loaded = False

    def install(self, torch: Any) -> None:
        self._torch = torch
        self._loop.install(torch)
        self._loop.exchange_batches(self._batches)
        self._loop.before_step = self._before_step
        self._loop.after_step = self._after_step
        _without_dropout(torch)
        without_end_of_schedule(torch)
        self._pinned.install(torch)

    def ended(self) -> None:
        optimizer = self._loop.leader() if self._loop.leader is not None else None
        self._desk.tell(
            "overfit",
            losses=[loss if math.isfinite(loss) else None for loss in self._losses],
            loader=self._loaded,
            pinned=self._pinned.count,
            same=self._pinned.same,
            place=self._loop.place,
            backwards=self._loop.backwards,
            optimizer=type(optimizer).__name__ if optimizer is not None else None,
            optimizers=self._loop.optimizers,
            rate=max(self._rates.values(), default=None),
            optimizer_place=self._desk.made_at(optimizer) if optimizer is not None else None,
        )

    def _batches(self, loader: Any, iterate: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """Its batches up to the first one that is trained on, and then that one without end."""
        self._look(loader)
        if loader not in self._kept:
            for batch in iterate(loader):
                self._last[loader] = (copied(self._torch, batch), self._loop.backwards)
                yield batch
                if self._look(loader):
                    break
            else:
                return
        while True:
            yield copied(self._torch, self._kept[loader])

    def _look(self, loader: Any) -> bool:
        """Whether the last batch of a loader was trained on."""
        batch, before = self._last.get(loader, (None, self._loop.backwards))
        if loader not in self._kept and self._loop.backwards > before:
            self._kept[loader] = batch
            self._loaded = True
            self._last.pop(loader, None)
        return loader in self._kept

    def _before_step(self, optimizer: Any) -> None:
        for number, group in enumerate(optimizer.param_groups):
            key = (id(optimizer), number)
            highest = max(self._rates.get(key, 0.0), float(group.get("lr") or 0.0))
            self._rates[key] = highest
            if isinstance(group.get("lr"), float):
                group["lr"] = highest

    def _after_step(self, loss: float | None) -> None:
        self._pinned.trained()
        if loss is not None:
            self._losses.append(loss)
        if self._loop.steps >= self._steps and self._enough():
            self.ended()
            self._desk.stop()

    def _enough(self) -> bool:
        losses = self._losses
        if len(losses) < 16 or not math.isfinite(losses[-1]) or self._loop.steps >= LONGEST * self._steps:
            return True
        part = len(losses) // 8
        before, now = sum(losses[-2 * part : -part]) / part, sum(losses[-part:]) / part
        return now <= NOTHING * losses[0] or now > before - (1 - STILL) * abs(before)


def _without_dropout(torch: Any) -> None:
    functions = torch.nn.functional
    names = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
    for name in names:
        if hasattr(functions, name):
            setattr(functions, name, lambda input, *args, **kwargs: input)
    entropy = functions.cross_entropy

    def unsmoothed(*args: Any, label_smoothing: float = 0.0, **kwargs: Any) -> Any:
        return entropy(*args, **kwargs)

    functions.cross_entropy = unsmoothed

"""The events of a training loop that probes build on: backward(), steps of optimizers, batches of loaders.

Unlike what `training` does, this exchanges functions of torch for good: the script ends with the probe.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime import places
from torchsleuth.runtime.probes.desk import Desk

MAX_OPTIMIZERS = 16
Batches = Callable[[Any, Callable[[Any], Iterator[Any]]], Iterator[Any]]


class Loop:
    """Counts steps, and sums up what went into backward() in each. The optimizer that steps first tells the steps; without any
    optimizer, each backward() at the same place is a step."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.backwards = self.steps = 0
        self.leader: Any = None
        """A weak reference to the optimizer that tells the steps."""
        self.on_loss: Callable[[Any], None] | None = None
        """Called with what backward() is called on."""
        self.before_step: Callable[[Any], None] | None = None
        """Called with the optimizer that tells the steps."""
        self.after_step: Callable[[float | None], None] | None = None
        """Called with the loss of the step: the sum over all places of backward() of the mean at each."""
        self.place: dict[str, Any] | None = None
        """Where backward() was called first."""
        self._losses: dict[Any, list[float]] = {}
        self._others: set[int] = set()
        self._scales: dict[int, tuple[weakref.ref[Any], float]] = {}
        self._torch: Any = None

    def install(self, torch: Any) -> None:
        self._torch = torch
        backward = torch.autograd.backward

        def told(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            self._backward(tensors[0] if isinstance(tensors, tuple | list) and tensors else tensors)
            return backward(tensors, *args, **kwargs)

        torch.autograd.backward = told
        optimizers = sys.modules["torch.optim.optimizer"]
        optimizers.register_optimizer_step_pre_hook(self._before)
        optimizers.register_optimizer_step_post_hook(self._after)
        scaler = getattr(torch.amp, "GradScaler", None)
        if scaler is not None:
            scale = scaler.scale

            def remembered(of: Any, outputs: Any) -> Any:
                scaled = scale(of, outputs)
                if isinstance(scaled, torch.Tensor) and of.is_enabled():
                    self._scales[id(scaled)] = (weakref.ref(scaled), of.get_scale())
                return scaled

            scaler.scale = remembered

    def exchange_batches(self, batches: Batches) -> None:
        """Loaders give what `batches` makes of a loader and of its own iteration."""
        loader = self._torch.utils.data.DataLoader
        iterate = loader.__iter__
        loader.__iter__ = lambda of: batches(of, iterate)

    def _backward(self, value: Any) -> None:
        key = self._desk.places.here(2)
        if self.place is None:
            self.place = places.to_json(key)
        where = None if key is None else key[:2]
        if where in self._losses and self.leader is None and not self._has_optimizer():
            self._close()
        self.backwards += 1
        self._losses.setdefault(where, []).append(self._number(value))
        if self.on_loss is not None:
            self.on_loss(value)

    def _number(self, value: Any) -> float:
        torch = self._torch
        if not isinstance(value, torch.Tensor):
            return math.nan
        reference, scale = self._scales.pop(id(value), (None, 1.0))
        scale = scale if reference is not None and reference() is value else 1.0
        with torch.no_grad():
            return float(value.detach().double().mean()) / (scale or 1.0)

    def _has_optimizer(self) -> bool:
        return any(hasattr(found, "param_groups") for found in self._desk.alive())

    def _leads(self, optimizer: Any) -> bool:
        if self.leader is None or self.leader() is None:
            self.leader = weakref.ref(optimizer)
        return self.leader() is optimizer

    @property
    def optimizers(self) -> int:
        """How many have stepped."""
        return len(self._others) + (self.leader is not None)

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._leads(optimizer) and self.before_step is not None:
            self.before_step(optimizer)

    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._leads(optimizer):
            self._close()
        elif len(self._others) < MAX_OPTIMIZERS:
            self._others.add(id(optimizer))

    def _close(self) -> None:
        self.steps += 1
        losses, self._losses = self._losses, {}
        total = sum(sum(found) / len(found) for found in losses.values()) if losses else None
        if self.after_step is not None:
            self.after_step(total)


def copied(torch: Any, batch: Any) -> Any:
    """A batch whose tensors are copies: a script may change what it gets in place."""
    if isinstance(batch, torch.Tensor):
        return batch.detach().clone()
    if isinstance(batch, dict):
        return type(batch)({name: copied(torch, item) for name, item in batch.items()})
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(copied(torch, item) for item in batch))
    if type(batch) in (tuple, list):
        return type(batch)(copied(torch, item) for item in batch)
    return batch


def without_end_of_schedule(torch: Any) -> None:
    """A schedule of so many steps raises behind its last one."""
    cycle = torch.optim.lr_scheduler.OneCycleLR
    rates = cycle.get_lr

    def held(of: Any) -> Any:
        try:
            return rates(of)
        except ValueError:
            return [group["lr"] for group in of.optimizer.param_groups]

    cycle.get_lr = held

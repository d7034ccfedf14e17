"""Watches training in a run: whether losses stay finite and parameters move. Reads nothing until the end.

An exit status of 0 alone does not make a repair: ``loss.requires_grad_()`` removes a crash and keeps its fault.
"""

from __future__ import annotations

import math
from typing import Any

MAX_WATCHED = 2_000_000
"""Elements of parameters whose first values are kept for the comparison at the end."""


class TrainingWatch:
    """Sees what backward() is called on, and the parameters before the first step of an optimizer."""

    def __init__(self) -> None:
        self._torch: Any = None
        self._hook: Any = None
        self._losses: list[Any] = []
        self._before: list[tuple[Any, Any]] = []

    def install(self, torch: Any, optimizers: Any) -> None:
        """`optimizers` is the module torch.optim.optimizer, which torch.optim hides behind a function."""
        self._torch = torch
        self._hook = optimizers.register_optimizer_step_pre_hook(self._before_step)

    def see_loss(self, value: Any) -> Any:
        """Called by rewritten code; keeps the first and the last loss, without their graphs."""
        if self._torch is not None and type(value) is self._torch.Tensor and value.is_floating_point():
            with self._torch._C.DisableTorchFunction():
                self._losses[1 if self._losses else 0 :] = [value.detach()]
        return value

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """The first step of the first optimizer; nothing hooks the steps after it."""
        self._hook.remove()
        room = MAX_WATCHED
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.numel() <= room:
                    room -= parameter.numel()
                    self._before.append((parameter, parameter.detach().clone()))

    def result(self) -> dict[str, Any] | None:
        """First and last loss (None if not finite), and the largest change of a parameter since the first step (None
        without a step). None if the script did not train."""
        if not self._before and not self._losses:
            return None
        with self._torch.no_grad():
            losses = [float(loss.float().mean()) for loss in self._losses]
            change = 0.0
            for parameter, before in self._before:
                if parameter.shape == before.shape and parameter.numel():
                    change = max(change, float((parameter.to(before.device) - before).abs().max()))
        return {
            "finite": all(math.isfinite(loss) for loss in losses) and math.isfinite(change),
            "losses": [loss if math.isfinite(loss) else None for loss in losses],
            "change": change if self._before and math.isfinite(change) else None,
        }

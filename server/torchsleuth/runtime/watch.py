"""Watches training in a run: whether losses stay finite and parameters move.

An exit status of 0 alone does not make a repair: ``loss.requires_grad_()`` removes a crash and keeps its fault. Nothing of
the user's is kept alive for it but the numbers of two losses, and nothing is computed where a mode, a profiler, a transform
or a capture would see it.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

from torchsleuth.runtime.recorder import occupied_in, untouchable_in

MAX_WATCHED = 2_000_000
"""Elements of parameters that are compared with what they were before a step."""
MAX_LOSS_BYTES = 1 << 16
"""Storage of a loss that is kept until the end."""


class TrainingWatch:
    """Sees what backward() is called on, and the first step of an optimizer that changes a parameter."""

    def __init__(self) -> None:
        self._torch: Any = None
        self._untouchable: Any = None
        self._occupied: Any = None
        self._hooks: list[Any] = []
        self._losses: list[float | tuple[Any, ...]] = []
        """The first and the last one: numbers, or where to find them."""
        self._steps = 0
        self._before: list[tuple[weakref.ref[Any], Any]] = []
        self._change: float | None = None

    def install(self, torch: Any, optimizers: Any) -> None:
        """`optimizers` is the module torch.optim.optimizer, which torch.optim hides behind a function."""
        self._torch = torch
        self._untouchable, self._occupied = untouchable_in(torch), occupied_in(torch)
        self._hooks = [
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]

    def see_loss(self, value: Any) -> Any:
        """Called by rewritten code; keeps the numbers of the first and the last loss."""
        torch = self._torch
        if torch is None or type(value) is not torch.Tensor or torch.compiler.is_compiling():
            return value
        try:
            if torch._C._get_tracing_state() is None:
                with torch._C.DisableTorchFunction():
                    if not self._untouchable(value) and value.is_floating_point() and value.layout == torch.strided:
                        storage = value.untyped_storage()
                        if storage.nbytes() <= MAX_LOSS_BYTES:
                            place = (value.storage_offset(), tuple(value.shape), value.stride())
                            self._keep((storage, value.dtype, *place))
        except Exception:  # what cannot be read is not watched
            return value
        return value

    def note_loss(self, value: Any, number: float | None) -> None:
        """A loss, and its number where that is known."""
        if self._change and self._hooks:  # it is known that a step changes something
            self.remove()
        if number is None:
            self.see_loss(value)
        elif self._losses:
            self._losses[1:] = (number,)
        else:
            self._losses.append(number)

    def _keep(self, loss: float | tuple[Any, ...]) -> None:
        self._losses[1 if self._losses else 0 :] = [loss]

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Copies parameters before the steps 1, 2, 4, 8, … until one has changed them."""
        torch = self._torch
        if self._change or torch.compiler.is_compiling():
            return
        try:
            if self._occupied():
                return
            self._steps += 1
            self._before = []
            if self._steps & (self._steps - 1):
                return
            room = MAX_WATCHED
            with torch._C.DisableTorchFunction(), torch.no_grad():
                for group in optimizer.param_groups:
                    for parameter in group["params"]:
                        if not self._untouchable(parameter) and parameter.numel() <= room:
                            room -= parameter.numel()
                            self._before.append((weakref.ref(parameter), parameter.detach().clone()))
        except Exception:
            self._before = []

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._before or self._torch.compiler.is_compiling():
            return
        try:
            if not self._occupied():
                with self._torch._C.DisableTorchFunction(), self._torch.no_grad():
                    self._compare()
        except Exception:
            self._before = []

    def _compare(self) -> None:
        before, self._before = self._before, []
        for reference, old in before:
            parameter = reference()
            if parameter is not None and parameter.shape == old.shape and parameter.numel():
                change = float((parameter.to(old.device) - old).abs().max())
                self._change = change if math.isnan(change) else max(self._change or 0.0, change)
                if math.isnan(change):
                    break
        # The hooks stay until the next loss: PyTorch iterates over them now.

    def remove(self) -> None:
        """No hook of ours is left."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def result(self) -> dict[str, Any] | None:
        """First and last loss (None if not finite), and the largest change of a parameter by the first step that made one
        (0 if none did, None without a step). None if the script did not train."""
        if not self._steps and not self._losses:
            return None
        torch = self._torch
        losses = []
        with torch._C.DisableTorchFunction(), torch.no_grad():
            for kept in self._losses:
                if isinstance(kept, float):
                    losses.append(kept)
                    continue
                storage, dtype, offset, shape, stride = kept
                loss = torch.empty(0, dtype=dtype, device=storage.device).set_(storage, offset, shape, stride)
                losses.append(float(loss.float().mean()))
        change = self._change if self._change is not None or not self._steps else 0.0
        return {
            "finite": all(math.isfinite(loss) for loss in losses) and (change is None or math.isfinite(change)),
            "losses": [loss if math.isfinite(loss) else None for loss in losses],
            "change": change if change is None or math.isfinite(change) else None,
        }

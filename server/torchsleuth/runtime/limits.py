"""Limits of a run: fewer steps, samples, observations.

These change what the script does, which is what they are for; without them nothing here runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

VARIABLE = "TORCHSLEUTH_LIMITS"
"""Environment variable with the limits as JSON; removed before the user's code starts."""
KINDS = ("shapes", "values", "training", "constructors")
"""The kinds of observations of a run: tensors of expressions, and samples of what is in them; whether training works; where modules are
constructed."""
SMOKE_SAMPLES, SMOKE_TRAINING, SMOKE_EVALUATION = 2, 3, 2


class Limits(NamedTuple):
    """`max_steps`: optimizer steps after which the run ends. `smoke`: batches of 2 samples, 3 steps of training, 2 batches of
    each evaluation. `device`: the one that the script shall take. `every`: shapes are recorded in each such optimizer
    step only. `without`: kinds that are not recorded. `probe`: the settings of the probe that the run is for, its kind first;
    see `probes`. `batch`: samples of each batch that would have more than one."""

    max_steps: int | None = None
    smoke: bool = False
    device: str | None = None
    every: int = 1
    without: tuple[str, ...] = ()
    probe: dict[str, Any] | None = None
    batch: int | None = None

    @property
    def steps(self) -> int | None:
        return min(self.max_steps or SMOKE_TRAINING, SMOKE_TRAINING) if self.smoke else self.max_steps

    def to_text(self) -> str:
        return json.dumps(self._asdict())

    @staticmethod
    def of_text(text: str) -> Limits:
        given = json.loads(text)
        return Limits(**{**given, "without": tuple(given["without"])})

    def environment(self) -> dict[str, str]:
        """Variables by which libraries choose a device."""
        if self.device == "cpu":
            return {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
        kind, _, number = (self.device or "").partition(":")
        return {"CUDA_VISIBLE_DEVICES": number} if kind == "cuda" and number else {}


class Limiter:
    """Keeps to the limits in the script's process. `ended` is told why the run ends, `recording` whether to record."""

    def __init__(self, limits: Limits, ended: Callable[[str], None], recording: Callable[[bool], None]) -> None:
        self._limits = limits
        self._ended = ended
        self._recording = recording
        self._steps = 0

    def install(self, torch: Any) -> None:
        optimizers = sys.modules["torch.optim.optimizer"]
        if self._limits.steps is not None or self._limits.every > 1:
            optimizers.register_optimizer_step_pre_hook(self._before_step)
            optimizers.register_optimizer_step_post_hook(self._after_step)
        if self._limits.smoke or self._limits.batch is not None:
            self._install_batches(torch)
        if self._limits.smoke:
            self._install_smoke(torch)
        if self._limits.device == "cpu":
            torch.backends.mps.is_available = lambda: False
        elif self._limits.device is not None and ":" not in self._limits.device:
            torch.set_default_device(self._limits.device)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """In a smoke test the step after the last one ends the run, so that what follows the training runs too."""
        if self._limits.smoke and self._limits.steps is not None and self._steps >= self._limits.steps:
            self._end("smoke")

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._steps += 1
        if self._limits.every > 1:
            self._recording(self._steps % self._limits.every == 0)
        steps = self._limits.max_steps
        if not self._limits.smoke and steps is not None and self._steps >= steps:
            self._end("max-steps")

    def _end(self, why: str) -> NoReturn:
        self._ended(why)
        raise SystemExit(0)

    def _samples(self, samples: int) -> int:
        """Of a batch that the script wants to have so many."""
        if self._limits.smoke:
            return min(samples, SMOKE_SAMPLES)
        return samples if samples <= 1 or self._limits.batch is None else self._limits.batch

    def _install_batches(self, torch: Any) -> None:
        data = torch.utils.data
        make, group = data.DataLoader.__init__, data.BatchSampler.__init__

        def of_other_size(loader: Any, dataset: Any, batch_size: Any = 1, *args: Any, **kwargs: Any) -> None:
            own = batch_size is None or kwargs.get("batch_sampler")
            make(loader, dataset, batch_size if own else self._samples(batch_size), *args, **kwargs)

        def group_of_other_size(sampler: Any, inner: Any, batch_size: int, *args: Any, **kwargs: Any) -> None:
            group(sampler, inner, self._samples(batch_size), *args, **kwargs)

        data.DataLoader.__init__ = of_other_size
        data.BatchSampler.__init__ = group_of_other_size

    def _install_smoke(self, torch: Any) -> None:
        data = torch.utils.data
        iterate = data.DataLoader.__iter__

        def fewer_batches(loader: Any) -> Iterator[Any]:
            steps = self._steps
            for number, batch in enumerate(iterate(loader), 1):
                yield batch
                trains = self._steps > steps or (torch.is_grad_enabled() and number < SMOKE_EVALUATION)
                if number >= (SMOKE_TRAINING if trains else SMOKE_EVALUATION):
                    return

        data.DataLoader.__iter__ = fewer_batches

"""Notes checksums of all tensors that the user's expressions make, and the losses, so that two runs can be compared."""

from __future__ import annotations

import math
import os
import random
import sys
import zlib
from collections.abc import Callable
from typing import Any

from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.probes.loop import Loop

MAX_VALUES = 50_000
MAX_ELEMENTS = 1_000_000
"""Of a value whose checksum is taken; of a larger one, every n-th element."""


class Probe:
    """`settings`: {steps, seed: what random generators begin with, or None: what the script makes of them}."""

    def __init__(self, desk: Desk, settings: dict[str, Any]) -> None:
        self._desk = desk
        self._steps = settings["steps"]
        self._seed = settings.get("seed")
        self._loop = Loop(desk)
        self._losses: list[float | None] = []
        self._values: list[tuple[int, int]] = []
        self._seeded: set[str] = set()
        self._states: dict[str, Any] = {}
        self._torch: Any = None

    def install(self, torch: Any) -> None:
        self._torch = torch
        if self._seed is not None:
            torch.manual_seed(self._seed)
            random.seed(self._seed)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(self._seed)
        self._notice(torch, "manual_seed", "torch")
        self._notice(random, "seed", "random")
        if "numpy" in sys.modules:
            self._notice(sys.modules["numpy"].random, "seed", "numpy")
        self._states = _states(torch)
        self._loop.install(torch)
        self._loop.after_step = self._after_step
        self._desk.record(self._record)

    def ended(self) -> None:
        sites = sorted({site for site, _ in self._values})
        self._desk.tell(
            "determinism",
            losses=self._losses,
            values=self._values,
            sites={str(site): self._place(site) for site in sites},
            seeded=sorted(self._seeded),
            drawn=sorted(name for name, state in _states(self._torch).items() if state != self._states.get(name)),
            place=self._loop.place,
            backwards=self._loop.backwards,
        )

    def _notice(self, module: Any, name: str, library: str) -> None:
        """Whether the script seeds a generator."""
        seed: Callable[..., Any] = getattr(module, name)

        def noticed(*args: Any, **kwargs: Any) -> Any:
            self._seeded.add(library)
            return seed(*args, **kwargs)

        setattr(module, name, noticed)

    def _after_step(self, loss: float | None) -> None:
        self._losses.append(loss if loss is not None and math.isfinite(loss) else None)
        if self._loop.steps >= self._steps:
            self.ended()
            self._desk.stop()

    def _record(self, site: int, value: Any) -> Any:
        if len(self._values) < MAX_VALUES and os.getpid() == self._desk.process:
            try:
                checksum = self._checksum(value)
            except Exception:  # a tensor without storage, or a value that is none
                return value
            if checksum is not None:
                self._values.append((site, checksum))
        return value

    def _checksum(self, value: Any) -> int | None:
        torch = self._torch
        if type(value) in (torch.Tensor, torch.nn.Parameter):
            if value.layout != torch.strided or value.device.type == "meta" or not value.numel():
                return None
            with torch.no_grad():
                flat = value.detach().reshape(-1)[:: 1 + value.numel() // MAX_ELEMENTS]
                flat = torch.view_as_real(flat) if flat.is_complex() else flat
                return zlib.crc32(flat.cpu().contiguous().view(torch.uint8).numpy().data)
        if type(value).__name__ == "ndarray" and value.dtype.kind in "fiub" and value.size:
            return zlib.crc32(value.reshape(-1)[:: 1 + value.size // MAX_ELEMENTS].tobytes())
        return None

    def _place(self, number: int) -> dict[str, Any]:
        site = self._desk.sites[number]
        return {"path": site.path, "line": site.span[0], "span": site.span, "function": ""}


def _states(torch: Any) -> dict[str, Any]:
    """The states of the random generators, to be compared."""
    found = {"torch": bytes(torch.get_rng_state().numpy().data), "random": random.getstate()}
    if "numpy" in sys.modules:
        _, key, position, *_ = sys.modules["numpy"].random.get_state()
        found["numpy"] = (key.tobytes(), position)
    return found

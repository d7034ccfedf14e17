"""Measures how long a batch of the training loader takes with other numbers of workers, beside the time of a step."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.probes.loop import Loop

NUMBERS = (0, 2, 4, 8)
MAX_BATCHES = 24
SECONDS = 4.0
"""For one number of workers, once they have started."""


class Probe:
    """`settings`: {steps}."""

    def __init__(self, desk: Desk, settings: dict[str, Any]) -> None:
        self._desk = desk
        self._steps = settings["steps"]
        self._loop = Loop(desk)
        self._loader: Any = None
        self._last: Any = None
        self._computing: list[float] = []
        self._measuring = False
        self._torch: Any = None

    def install(self, torch: Any) -> None:
        self._torch = torch
        self._loop.install(torch)
        self._loop.exchange_batches(self._batches)
        self._loop.after_step = self._after_step

    def ended(self) -> None:
        self._desk.tell("workers", loader=None, steps=self._loop.steps, backwards=self._loop.backwards)

    def _batches(self, loader: Any, iterate: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        for batch in iterate(loader):
            before, began = self._loop.backwards, time.perf_counter()
            self._last = loader
            yield batch
            if self._loop.backwards > before and not self._measuring:
                self._computing.append(time.perf_counter() - began)

    def _after_step(self, loss: float | None) -> None:
        self._loader = self._last
        if self._loop.steps < self._steps or self._loader is None:
            return
        self._measuring = True
        loader = self._loader
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        own = loader.num_workers
        numbers = sorted({own, *(number for number in NUMBERS if number <= max(available, 2))})
        self._desk.tell(
            "workers",
            loader=self._desk.made_at(loader),
            steps=self._loop.steps,
            own=own,
            available=available,
            # The first steps are slower than the others.
            computing=sorted(self._computing[1:] or [0.0])[len(self._computing[1:]) // 2],
            measured=[{"workers": number, **self._measured(loader, number)} for number in numbers],
        )
        self._desk.stop()

    def _measured(self, loader: Any, number: int) -> dict[str, Any]:
        try:
            return seconds_of(iter(self._like(loader, number)), time.perf_counter)
        except Exception as error:  # of the dataset, or of starting it in another process
            return {"error": f"{type(error).__name__}: {error}"[:200]}

    def _like(self, loader: Any, number: int) -> Any:
        """The loader with another number of workers."""
        given: dict[str, Any] = {
            "num_workers": number,
            "collate_fn": loader.collate_fn,
            "pin_memory": loader.pin_memory,
            "worker_init_fn": loader.worker_init_fn,
        }
        if number:
            given["prefetch_factor"] = loader.prefetch_factor or 2
            given["multiprocessing_context"] = loader.multiprocessing_context
        if loader.batch_sampler is not None and not hasattr(loader.dataset, "__iter__"):
            given["batch_sampler"] = loader.batch_sampler
        elif isinstance(loader.dataset, self._torch.utils.data.IterableDataset) or loader.batch_sampler is None:
            given["batch_size"], given["drop_last"] = loader.batch_size, loader.drop_last
        else:
            given["batch_sampler"] = loader.batch_sampler
        return self._torch.utils.data.DataLoader(loader.dataset, **given)


def seconds_of(batches: Iterator[Any], clock: Callable[[], float]) -> dict[str, Any]:
    """The time that the first batch takes, with the start of the workers, and the mean of those that follow."""
    began = clock()
    if next(batches, None) is None:
        return {"error": "no batch"}
    first = clock()
    count, now = 0, first
    while count < MAX_BATCHES and now - first < SECONDS and next(batches, None) is not None:
        count, now = count + 1, clock()
    return {"start": first - began, "batches": count, "seconds": (now - first) / count if count else first - began}

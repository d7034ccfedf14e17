"""In a process that is a rank of a distributed training: its steps, its batches and its parameters, for the comparison with the
other ranks (`together.py`).

At the steps 1, 2, 4, 8, … the sums of the parameters are sent; they are equal in all ranks where something keeps them so. Batches
are counted where a loader counts them itself, so that no frame of ours is below the user's code.
"""

from __future__ import annotations

import math
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, MutableSequence
from types import FrameType
from typing import Any

from torchsleuth.runtime.page import BATCHES, EPOCHS, STEPS
from torchsleuth.runtime.recorder import untouchable_in
from torchsleuth.runtime.registry import file_of

MAX_PARAMETERS = 256
MAX_PLACES = 8
MAX_PASSES = 64
"""Passes over the loaders of one place that are kept."""
_KEPT_TIMES = 256
_COUNT = "_num_yielded"


class Progress:
    """Steps of optimizers and batches of loaders in the shared page; of a rank, also what is compared."""

    def __init__(
        self, owns: Callable[[str], bool], slots: Callable[[], MutableSequence[int]], send: Callable[..., Any]
    ) -> None:
        self._owns = owns
        self._slots = slots
        self._send = send
        self._torch: Any = None
        self._untouchable: Any = None
        self._restore: list[Callable[[], None]] = []
        self._rank: int | None = None
        self._compare = False
        self._world = 1
        self._steps = 0
        self._place: dict[str, Any] | None = None
        self._times: deque[float] = deque(maxlen=_KEPT_TIMES)
        self._local: deque[float] = deque(maxlen=_KEPT_TIMES)
        self._last: float | None = None
        self._forward: float | None = None
        self._sums: list[Any] | None = None
        self._summed = 0
        self._passes: dict[tuple[str, int], list[list[int]]] = {}
        self._outputs: list[tuple[int, float]] = []
        """Step and sum of what the model gave first in it."""

    def install(self, torch: Any, optimizers: Any, *, compare: bool) -> None:
        """`optimizers` is the module torch.optim.optimizer; `compare`: this process may be a rank."""
        self._torch, self._untouchable, self._compare = torch, untouchable_in(torch), compare
        self._restore = [optimizers.register_optimizer_step_post_hook(self._stepped).remove]
        self._last = self._forward = None
        if compare:
            loaders = sys.modules.get("torch.utils.data.dataloader")
            if loaders is not None:
                kind = loaders._BaseDataLoaderIter
                setattr(kind, _COUNT, _Counter(self, vars(kind).get(_COUNT)))
            self._watch_forward(sys.modules.get("torch.nn.parallel.distributed"))

    def remove(self) -> None:
        for restore in self._restore:
            restore()
        self._restore = []

    def rank(self) -> int | None:
        """Of this process, once it has joined a group of several; also after it has left it."""
        if self._rank is not None:
            return self._rank
        distributed = sys.modules.get("torch.distributed")
        try:
            if distributed is None or not distributed.is_initialized() or distributed.get_world_size() < 2:
                return None
            self._rank, self._world = int(distributed.get_rank()), int(distributed.get_world_size())
            return self._rank
        except Exception:
            return None

    def tell(self, *, complete: bool = False) -> None:
        """Send the state of now. `complete`: the main program has come to its end, and so have its passes over loaders."""
        rank = self.rank()
        if rank is None:
            return
        passes = [
            {"path": path, "line": line, "batches": [number for (number,) in known]}
            for (path, line), known in self._passes.items()
        ]
        self._send(
            "rank",
            rank=rank,
            world=self._world,
            steps=self._steps,
            step_ms=_median_ms(self._times),
            local_ms=_median_ms(self._local),
            place=self._place,
            passes=passes,
            complete=complete,
            summed=self._summed,
            sums=self._sums,
            outputs=self._outputs,
        )

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """After a step of any optimizer."""
        if self._torch.compiler.is_compiling():
            return
        self._steps += 1
        self._slots()[STEPS] = self._steps
        if self._compare or self._rank is not None:
            self._time_step()
        if _compared(self._steps) and self.rank() is not None:
            try:
                if self._place is None:
                    self._place = self._user_place(sys._getframe(1))
                self._sum(optimizer)
                self.tell()
            except Exception:
                return

    def _time_step(self) -> None:
        now = time.perf_counter()
        if self._last is not None:
            self._times.append(now - self._last)
            if self._forward is not None and self._forward > self._last:
                self._local.append(self._forward - self._last)
        self._last, self._forward = now, None

    def _sum(self, optimizer: Any) -> None:
        """Sum and norm of each parameter. None where parts of the parameters are kept elsewhere, as with FSDP."""
        torch = self._torch
        self._sums, self._summed = None, self._steps
        if torch._C._len_torch_dispatch_stack() or torch.autograd._profiler_enabled():
            return
        parameters = [item for group in optimizer.param_groups for item in group["params"]][:MAX_PARAMETERS]
        whole = all(
            type(item) in (torch.nn.Parameter, torch.Tensor)
            and not getattr(item, "_fsdp_flattened", False)
            and not self._untouchable(item)
            and item.layout == torch.strided
            for item in parameters
        )
        if not whole or not parameters:
            return
        with torch._C.DisableTorchFunction(), torch.no_grad():
            found = [
                torch.stack([item.detach().float().sum(), item.detach().float().norm()]).tolist() for item in parameters
            ]
        sums = [[list(item.shape), *numbers] for item, numbers in zip(parameters, found)]
        if all(math.isfinite(number) for _, *numbers in sums for number in numbers):
            self._sums = sums

    def begin_pass(self) -> list[int]:
        """A loader begins to give its batches. What is kept of this pass: their number."""
        slots, batches = self._slots(), [0]
        slots[EPOCHS] += 1
        slots[BATCHES] = 0
        place = self._user_place(sys._getframe(1))
        if place is not None:
            key = (place["path"], place["line"])
            if key in self._passes or len(self._passes) < MAX_PLACES:
                known = self._passes.setdefault(key, [])
                if len(known) < MAX_PASSES:
                    known.append(batches)
        return batches

    def batch(self, count: int, batches: list[int]) -> None:
        self._slots()[BATCHES] = batches[0] = count

    def _note_output(self, output: Any) -> None:
        """Results of the model are the same in two ranks only if they were given the same."""
        step, torch = self._steps + 1, self._torch
        if not _compared(step) or self._outputs and self._outputs[-1][0] == step or self.rank() is None:
            return
        parts = (
            output.values() if isinstance(output, dict) else output if isinstance(output, tuple | list) else (output,)
        )
        value = next((one for one in parts if type(one) is torch.Tensor), None)
        if (
            value is None
            or not value.is_floating_point()
            or self._untouchable(value)
            or len(self._outputs) >= MAX_PASSES
        ):
            return
        with torch._C.DisableTorchFunction(), torch.no_grad():
            number = float(value.detach().float().sum())
        if math.isfinite(number):
            self._outputs.append((step, number))

    def _user_place(self, frame: FrameType | None) -> dict[str, Any] | None:
        while frame is not None:
            if self._owns(frame.f_code.co_filename):
                return {"path": file_of(frame.f_code), "line": frame.f_lineno, "function": frame.f_code.co_name}
            frame = frame.f_back
        return None

    def _watch_forward(self, module: Any) -> None:
        """The end of the forward pass: what a rank does until then, it does alone."""
        if module is None:
            return
        after = module.DistributedDataParallel._post_forward
        compiling = self._torch.compiler.is_compiling

        def _post_forward(model: Any, output: Any) -> Any:
            if not compiling():
                self._forward = time.perf_counter()
                self._note_output(output)
            return after(model, output)

        module.DistributedDataParallel._post_forward = _post_forward
        self._restore.append(lambda: setattr(module.DistributedDataParallel, "_post_forward", after))


class _Counter:
    """Stands in the place of an attribute of loaders' iterators, the number of batches that they have given."""

    def __init__(self, progress: Progress, other: Any) -> None:
        """`other`: what stood there before, and is told too."""
        self._progress = progress
        self._other = other
        self._passes: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()

    def __get__(self, iterator: Any, kind: Any = None) -> Any:
        if iterator is None:
            return self
        return iterator.__dict__.get(_COUNT, 0)

    def __set__(self, iterator: Any, count: int) -> None:
        if self._other is not None:
            self._other.__set__(iterator, count)
        iterator.__dict__[_COUNT] = count
        try:
            known = self._passes.get(iterator)
            if count:
                self._progress.batch(count, known if known is not None else [0])
            elif known is None or known[0]:  # the number is set more than once before the first batch
                self._passes[iterator] = self._progress.begin_pass()
        except Exception:
            return


def _compared(step: int) -> bool:
    """Whether a step is one of 1, 2, 4, 8, …"""
    return step & (step - 1) == 0


def _median_ms(times: deque[float]) -> float | None:
    """The first one is that of warming up."""
    kept = sorted(list(times)[1:])
    return round((kept[len(kept) // 2] + kept[(len(kept) - 1) // 2]) * 500, 3) if kept else None

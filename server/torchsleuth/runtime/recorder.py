"""Keeps what each rewritten expression made: the first tensor's description, and the last shape that differs from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torchsleuth.runtime.events import EventStream
from torchsleuth.runtime.rewrite import Site

FLUSH_SECONDS = 0.5
Record = Callable[[int, Any], Any]


def describe(tensor: Any) -> dict[str, Any]:
    """Shape, dtype, device and requires_grad of a tensor, without reading its elements."""
    return {
        "shape": [int(size) for size in tensor.shape],
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
        "requires_grad": bool(tensor.requires_grad),
    }


def unrecorded(site: int, value: Any) -> Any:
    """Called by rewritten code while nothing is recorded: before torch is imported, and in forked children."""
    return value


def unless_compiling(record: Record, torch: Any) -> Record:
    """For a process that has loaded torch's compiler, which shall see an identity while it traces the user's code."""
    compiling = torch.compiler.is_compiling

    def record_unless_compiling(site: int, value: Any) -> Any:
        return value if compiling() else record(site, value)

    return record_unless_compiling


class Recorder:
    """Sites and what was seen there. No thread of its own: a fork of the script must not meet one."""

    def __init__(self, sites: list[Site], stream: EventStream) -> None:
        self.sites = sites
        self._stream = stream
        self._last: dict[int, Any] = {}
        self._facts: dict[int, dict[str, Any]] = {}
        self._pending: set[int] = set()
        self._sent = 0.0

    def make_record(self, torch: Any) -> Record:
        """The function that rewritten code calls with every value, once torch is imported. The common paths take some
        300 nanoseconds for a tensor and 100 for anything else."""
        kinds: dict[type, bool] = {}
        last, pending, note = self._last, self._pending, self._note
        modes, tracing = torch._C._len_torch_function_stack, torch._C._get_tracing_state

        def classify(kind: type) -> bool:
            """Whether values of a type are recorded: subclasses of Tensor only without behaviour of their own."""
            kinds[kind] = issubclass(kind, torch.Tensor) and kind.__torch_function__ in (  # type: ignore[attr-defined]
                torch.Tensor.__torch_function__,
                torch._C._disabled_torch_function_impl,
            )
            return kinds[kind]

        def record(site: int, value: Any) -> Any:
            tensor = kinds.get(type(value))
            if tensor is False or (tensor is None and not classify(type(value))):
                return value
            if modes() or tracing() is not None:
                # Reading attributes here would leave marks in a trace, or reach a mode of the user's.
                if tracing() is None:
                    with torch._C.DisableTorchFunction():
                        note(site, value, value.shape)
                return value
            shape = value.shape
            if last.get(site) != shape:
                note(site, value, shape)
            elif pending:
                self._flush_soon()
            return value

        return record

    def _note(self, site: int, value: Any, shape: Any) -> None:
        known = self._facts.get(site)
        if known is None:
            self._facts[site] = {**describe(value), "later": None}
        elif self._last[site] == shape:
            return
        else:
            known["later"] = [int(size) for size in shape]
        self._last[site] = shape
        self._pending.add(site)
        self._flush_soon()

    def last_seen(self, path: str, span: tuple[int, int, int, int]) -> dict[str, Any] | None:
        """The latest value of the expression at a span of a file, for the crash report."""
        for number, site in enumerate(self.sites):
            if site.span == span and site.path == path and number in self._facts:
                return {**self._facts[number], "shape": [int(size) for size in self._last[number]]}
        return None

    def _flush_soon(self) -> None:
        if time.monotonic() - self._sent > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send what is new since the last time."""
        numbers = sorted(self._pending)
        facts = []
        for number in numbers:
            site = self.sites[number]
            facts.append({"path": site.path, "span": site.span, "binding": site.binding, **self._facts[number]})
        if facts and self._stream.send("facts", facts=facts):
            self._pending.difference_update(numbers)
            self._sent = time.monotonic()

"""Keeps what each rewritten expression made: the first tensor's description, and whether later ones differ."""

from __future__ import annotations

import threading
from typing import Any

from torchsleuth.runtime.events import EventStream
from torchsleuth.runtime.rewrite import RecordedSite

FLUSH_SECONDS = 1.0


def describe(tensor: Any) -> dict[str, Any]:
    """Shape, dtype, device and requires_grad of a tensor, without reading its data."""
    return {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
        "requires_grad": bool(tensor.requires_grad),
    }


class Recorder:
    """`record` is called by rewritten code for every value; everything else happens seldom."""

    def __init__(self, sites: list[RecordedSite], stream: EventStream) -> None:
        self.sites = sites
        self.tensor_types: tuple[type, ...] = ()
        self._seen: dict[int, Any] = {}
        self._entries: dict[int, dict[str, Any]] = {}
        self._dirty: set[int] = set()
        self._stream = stream
        self._stop = threading.Event()

    def record(self, site: int, value: Any) -> Any:
        if isinstance(value, self.tensor_types):
            shape = value.shape
            known = self._seen.get(site)
            if known is None:
                self._seen[site] = shape
                self._note(site, value)
            elif known != shape:
                self._seen[site] = shape
                self._vary(site, value)
        return value

    def _note(self, site: int, value: Any) -> None:
        try:
            self._entries[site] = describe(value)
            self._dirty.add(site)
        except Exception:  # a subclass that hides its attributes must not break the script
            self._entries.pop(site, None)

    def _vary(self, site: int, value: Any) -> None:
        entry = self._entries.get(site)
        if entry is None:
            return
        shape = list(value.shape)
        if len(shape) != len(entry["shape"]):
            entry["shape"] = None
        elif entry["shape"] is not None:
            entry["shape"] = [a if a == b else "?" for a, b in zip(entry["shape"], shape)]
        self._dirty.add(site)

    def start(self) -> None:
        threading.Thread(target=self._run, name="torchsleuth", daemon=True).start()

    def _run(self) -> None:
        while not self._stop.wait(FLUSH_SECONDS):
            self.flush()

    def stop(self) -> None:
        self._stop.set()
        self.flush()

    def flush(self) -> None:
        """Send what is new since the last time."""
        changed, self._dirty = self._dirty, set()
        facts = []
        for number in sorted(changed):
            entry = self._entries.get(number)
            if entry is not None:
                site = self.sites[number]
                span = [site.line, site.column, site.end_line, site.end_column]
                facts.append({"path": site.path, "span": span, "binding": site.binding, **entry})
        if facts:
            self._stream.send("facts", facts=facts)

"""The events of a run, one JSON object a line, on a descriptor of their own."""

from __future__ import annotations

import json
import os
from typing import Any

DESCRIPTOR = "TORCHSLEUTH_EVENTS"
"""Environment variable with the number of the descriptor; removed before the user's code starts."""


class EventStream:
    """Writes events; silently stops when nobody listens any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._process = os.getpid()

    def send(self, kind: str, **fields: Any) -> None:
        if os.getpid() != self._process:
            return  # a forked child (a loader's worker) has nothing to report
        line = json.dumps({"event": kind, **fields}, default=str).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError:
            self._process = -1

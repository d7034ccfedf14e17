"""The events of a run, one JSON object a line, on a descriptor of their own.

From the script's process: ``started`` {pid, script, python}, ``loaded`` {path}, ``facts`` {facts: […]}, ``crash`` {…},
``ended`` {why} where a limit ends it.
The parent adds ``finished`` {exit_code, seconds}, because only it sees how the process really ended.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

DESCRIPTOR = "TORCHSLEUTH_EVENTS"
"""Environment variable with the number of the descriptor; removed before the user's code starts."""


HIGH_DESCRIPTOR = 200


def out_of_the_way(descriptor: int) -> int:
    """The same file under a number that a script does not count to, not inherited by what it starts."""
    import fcntl

    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    except OSError:  # so many are not allowed here
        return descriptor
    os.close(descriptor)
    return high


class EventStream:
    """Writes events; silently stops when nobody listens any more, and in a forked child."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._process = os.getpid()
        self._writing = threading.Lock()
        self._channel = self._identity()

    def send(self, kind: str, **fields: Any) -> bool:
        """Whether the event was sent. False while another thread, or the code that a signal interrupted, is writing."""
        if os.getpid() != self._process or not self._writing.acquire(blocking=False):
            return False
        try:
            if self._channel is None or self._identity() != self._channel:
                return False  # the script has closed it, and the number may be that of a file of its own
            line = json.dumps({"event": kind, **fields}, default=str).encode() + b"\n"
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError:
            self._process = -1
        finally:
            self._writing.release()
        return True

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.fstat(self._descriptor)
        except OSError:
            return None
        return found.st_dev, found.st_ino

"""Where the threads of a process are: asked for with a signal while it runs, and written by itself when it dies of a fault in C.

The lines are written by `faulthandler`, which needs neither the interpreter's lock nor a thread: a process that hangs answers too.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

SIGNAL: int | None = signal.SIGRTMAX - 3 if hasattr(signal, "SIGRTMAX") and os.path.isdir("/proc/self") else None
"""A signal that nobody uses, where there are such, and where it can be known who listens to it."""
PATIENCE_SECONDS = 2.0
_SUFFIX = ".lines"
_LINE = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)
_FATAL = "Fatal Python error: "


def lines(folder: str) -> int:
    """A descriptor of the file for the lines of this process."""
    from torchsleuth.runtime.events import out_of_the_way

    name = os.path.join(folder, f"{os.getpid()}{_SUFFIX}")
    return out_of_the_way(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))


def ask(folder: str) -> None:
    """Have each process of a run write down where it is, and wait a moment until they have."""
    asked = []
    for name in _names(folder):
        pid = int(name.partition(".")[0])
        if SIGNAL is not None and _listens(pid, SIGNAL):
            with contextlib.suppress(OSError):
                os.kill(pid, SIGNAL)
                asked.append(os.path.join(folder, name))
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and not all(_is_complete(path) for path in asked):
        time.sleep(0.01)


def read(folder: str) -> Iterator[dict[str, Any]]:
    """For each process that wrote: what it died of, else None, and its places by thread, innermost first, the failing thread
    in front."""
    for name in _names(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            text = file.read()
        before, fatal, after = text.rpartition(_FATAL)
        reason, _, rest = after.partition("\n\n") if fatal else ("", "", text)
        threads = []
        for block in re.split(r"\n*(?=^(?:Thread|Current thread) 0x)", rest, flags=re.MULTILINE):
            places = [
                {"path": os.path.normpath(found[1]), "line": int(found[2]), "function": found[3]}
                for found in _LINE.finditer(block)
            ]
            if places:
                threads.append({"current": block.startswith("Current"), "places": places})
        threads.sort(key=lambda thread: not thread["current"])
        if fatal or threads:
            yield {"reason": reason.strip() or None, "threads": threads, "pid": int(name.partition(".")[0])}


def _names(folder: str) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    except OSError:
        return []
    return [
        name for name in names if name.removesuffix(_SUFFIX).isdecimal() and os.path.isfile(os.path.join(folder, name))
    ]


def _listens(pid: int, number: int) -> bool:
    """Whether a process catches a signal, rather than to die of it."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            caught = next(line for line in file if line.startswith("SigCgt:"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def _is_complete(path: str) -> bool:
    """The current thread, which is written last, ends with its outermost frame."""
    with open(path, encoding="utf-8", errors="replace") as file:
        last = file.read().rpartition("Current thread")[2]
    return last.endswith("\n") and _LINE.search(last) is not None

"""Runs work in a thread with a large stack, so that deep code can be followed, and interrupts it when it takes too long.

The engine looks at the clock itself while it executes a document (`interp/budget.py`). This is for what does not: a rule,
a walk over values. A thread is interrupted by an exception that Python raises in it, so never where PyTorch is at work,
whose state would be left half changed.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torchsleuth.oracle
from torchsleuth.interp.budget import OutOfTime

T = TypeVar("T")

STACK = 256 << 20
"""Bytes of stack; only what is used of them takes memory."""
SMALL_STACK = 16 << 20
"""The same where there is no room for that."""
DEPTH = 30_000
"""Nested calls of Python functions, each of which takes some 500 bytes of the stack, or a few thousand."""
BEAT_SECONDS = 0.25
"""How often the clock is looked at, at least."""
POLL_SECONDS = 0.02
"""How often the clock is looked at once a limit is near."""

_ORACLE = os.path.dirname(torchsleuth.oracle.__file__) + os.sep
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


class Bounded:
    """Runs one thing at a time. What runs may set limits to parts of itself."""

    def __init__(self, beat: Callable[[], None] = lambda: None) -> None:
        """`beat`: called again and again while something runs."""
        self._beat = beat
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._end: float | None = None

    def run(self, work: Callable[[], T]) -> T:
        """The result of some work, done with a large stack; whatever it raises."""
        if self._thread is threading.current_thread():
            return work()
        made: list[T] = []
        raised: list[BaseException] = []

        def run() -> None:
            self._thread = threading.current_thread()
            try:
                made.append(work())
            except BaseException as error:
                raised.append(error)

        depth = sys.getrecursionlimit()
        thread = _started(run)
        try:
            while thread.is_alive():
                thread.join(self._pause())
                self._beat()
                self._interrupt(thread)
        finally:
            sys.setrecursionlimit(depth)
            self._thread = None
        if raised:
            raise raised[0]
        return made[0]

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Raises `OutOfTime` in what it surrounds when that has taken so much time of the processor, or when a limit around it
        has passed. Outside of `run` there are none."""
        if self._thread is not threading.current_thread():
            yield
            return
        outer, end = self._end, time.process_time() + max(seconds, 0.0)
        self._end = end if outer is None else min(end, outer)
        try:
            yield
        finally:
            with self._lock:
                self._end = outer
            # One that was raised too late for what it was meant for; that of the outer limit comes again.
            _raise_in(ctypes.c_ulong(threading.get_ident()), None)

    def _pause(self) -> float:
        end = self._end
        # Where several threads compute, time of the processor passes faster than that of the clock.
        near = BEAT_SECONDS if end is None else (end - time.process_time()) / 4
        return min(max(POLL_SECONDS, near), BEAT_SECONDS)

    def _interrupt(self, thread: threading.Thread) -> None:
        """Raise the exception, if it is time, and the thread is not where it must not be interrupted."""
        with self._lock:
            if (
                self._end is None
                or time.process_time() < self._end
                or thread.ident is None
                or _is_shielded(thread.ident)
            ):
                return
            self._end = None
            _raise_in(ctypes.c_ulong(thread.ident), ctypes.py_object(OutOfTime))


def _started(run: Callable[[], None]) -> threading.Thread:
    """A thread with as large a stack as there is room for."""
    usual = threading.stack_size()
    for stack, depth in ((STACK, DEPTH), (SMALL_STACK, 2000)):
        try:
            threading.stack_size(stack)
            thread = threading.Thread(target=run, name="torchsleuth-analysis", daemon=True)
            sys.setrecursionlimit(max(depth, sys.getrecursionlimit()))
            thread.start()
            return thread
        except (RuntimeError, ValueError, MemoryError):
            continue
        finally:
            threading.stack_size(usual)
    thread = threading.Thread(target=run, name="torchsleuth-analysis", daemon=True)
    thread.start()
    return thread


def _is_shielded(ident: int) -> bool:
    """Whether a thread is in the oracle, or imports something."""
    frame: Any = sys._current_frames().get(ident)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith((_ORACLE, "<frozen importlib")):
            return True
        frame = frame.f_back
    return False


__all__ = ["Bounded", "OutOfTime"]

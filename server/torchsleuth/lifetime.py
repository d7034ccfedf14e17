"""Processes that end with the one that started them, however that ends."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """From now on, this process is killed when the thread ends that started it: whatever it is doing, stopped or not. Only
    Linux can do that; elsewhere the process has to notice that its input ends."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return

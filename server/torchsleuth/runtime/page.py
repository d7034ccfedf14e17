"""A page of memory that a script's process shares with the one that watches it: where it is, and how far it has come.

It outlives a process that is killed, and tells of one that hangs; a write is a store into memory.
"""

from __future__ import annotations

import array
import os
import sys
from collections.abc import Iterator, MutableSequence
from typing import NamedTuple, cast

SUFFIX = ".page"
SITE, STEPS, EPOCHS, BATCHES = range(4)
"""The last recorded place, plus 1; optimizer steps; passes over loaders that have begun; batches of the present one."""
_SLOTS = 4
_SIZE = 4096


class Page(NamedTuple):
    """The numbers of one process."""

    pid: int
    site: int
    steps: int
    epochs: int
    batches: int


def private() -> MutableSequence[int]:
    """Slots that nobody else sees."""
    return array.array("q", bytes(8 * _SLOTS))


def shared(folder: str | None) -> MutableSequence[int]:
    """Slots that `read` finds. Without `mmap`'s module, which would keep a descriptor open; `ctypes` is there with torch."""
    if folder is None or sys.platform == "win32" or "ctypes" not in sys.modules:
        return private()
    import ctypes
    import mmap

    try:
        path = os.path.join(folder, f"{os.getpid()}{SUFFIX}")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, _SIZE)
            function = ctypes.CDLL(None).mmap
            function.restype = ctypes.c_void_p
            function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
            protection = mmap.PROT_READ | mmap.PROT_WRITE
            address = function(None, _SIZE, protection, mmap.MAP_SHARED, descriptor, 0)
        finally:
            os.close(descriptor)
    except (OSError, AttributeError):
        return private()
    if address in (None, ctypes.c_void_p(-1).value):
        return private()
    slots = (ctypes.c_longlong * _SLOTS).from_address(address)
    return cast("MutableSequence[int]", memoryview(slots).cast("B").cast("q"))


def read(folder: str) -> Iterator[Page]:
    """The state of each process of a run: how it ended, or where it is."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except OSError:
        return
    for name in names:
        slots, path = array.array("q"), os.path.join(folder, name)
        if not name.removesuffix(SUFFIX).isdecimal() or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            slots.frombytes(file.read(8 * _SLOTS).ljust(8 * _SLOTS, b"\0"))
        yield Page(int(name.partition(".")[0]), *slots)

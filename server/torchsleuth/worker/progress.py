"""The worker's progress, in memory that outlives it: after a death, the client reads what was running.

A page of memory is shared by the two. The worker writes the number of the request, the time of the processor that it has
taken, and the parts of the code that it follows, one inside of the other; the client reads it when there is no answer. The client writes the number of a request that
it gives up for something more urgent; the worker looks there now and then.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import mmap
import os
import secrets
import struct
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import cache

from torchsleuth.interp.parts import Part, Parts
from torchsleuth.syntax.text import SourceText

VARIABLE = "TORCHSLEUTH_PROGRESS"
"""Environment variable with the number of the shared memory's descriptor, on Windows its name."""
SIZE = 1 << 16
DEPTH = 100
"""Parts inside of one another that are written down."""
_HEAD = struct.Struct("<II")  # number of the request, 0 between two; how many parts are being followed
_WITHDRAWN = struct.Struct("<I")  # number of the request that was withdrawn last, behind the head
_USED = struct.Struct("<f")  # seconds of the processor that the request has taken, behind that
_PLACE = struct.Struct("<I")  # of a part's description; 0 where there was no room for it
_LENGTH = struct.Struct("<H")
_PLACES = _HEAD.size + _WITHDRAWN.size + _USED.size
_FIRST = _PLACES + DEPTH * _PLACE.size


class Record:
    """The client's side. One for each worker."""

    def __init__(self) -> None:
        """Raises OSError where there is no memory to share."""
        self.descriptors: tuple[int, ...] = ()
        """The descriptors that the worker has to inherit."""
        if sys.platform == "win32":
            self.name = f"torchsleuth-{secrets.token_hex(16)}"
            self._memory = mmap.mmap(-1, SIZE, tagname=self.name)
        else:
            # Without a name, so that nothing is left of it, however the two end.
            with tempfile.TemporaryFile(prefix="torchsleuth-", buffering=0) as file:
                file.write(bytes(SIZE))  # room on a full disk cannot be asked for later
                self._memory = mmap.mmap(file.fileno(), SIZE)
                self.descriptors = (os.dup(file.fileno()),)
            self.name = str(self.descriptors[0])

    def inherited(self) -> None:
        """The worker has been started, or cannot be."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()

    def running(self, request: int) -> tuple[Part, ...] | None:
        """The parts that were being followed for a request, the outermost first; None if that has not begun, or has ended."""
        number, depth = _HEAD.unpack_from(self._memory)
        if number != request:
            return None
        return tuple(part for level in range(min(depth, DEPTH)) if (part := self._part(level)) is not None)

    @property
    def used(self) -> float:
        """Seconds of the processor that the request of now has taken, as far as the worker has said."""
        return float(_USED.unpack_from(self._memory, _HEAD.size + _WITHDRAWN.size)[0])

    def withdraw(self, request: int) -> None:
        """Tell the worker that nobody waits any longer for the answer to a request."""
        _WITHDRAWN.pack_into(self._memory, _HEAD.size, request)

    def _part(self, level: int) -> Part | None:
        (place,) = _PLACE.unpack_from(self._memory, _PLACES + level * _PLACE.size)
        if not _FIRST <= place <= SIZE - _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._memory, place)
        begin = place + _LENGTH.size
        try:
            return Part(*json.loads(self._memory[begin : begin + length]))
        except (ValueError, TypeError):  # it died while it wrote
            return None


class Progress(Parts):
    """The worker's side. Without a client that wants to know, nothing is written."""

    def __init__(self, memory: mmap.mmap | None = None) -> None:
        self._memory = memory
        self._left_out: frozenset[tuple[str, ...]] = frozenset()
        self._in_step = False
        self._number = 0
        self._parts: dict[tuple[ast.AST, str], Part] = {}
        self._places: dict[Part, int] = {}
        """Where parts are described."""
        self.met: dict[Part, None] = {}
        """Parts that were left out since the request began."""
        self._begin(0)

    @contextlib.contextmanager
    def request(self, number: int, left_out: Iterable[Part] = ()) -> Iterator[None]:
        """While a request is being answered. `left_out`: the parts that are not to be followed."""
        self._left_out = frozenset(part.identity for part in left_out)
        self._begin(number)
        try:
            yield
        finally:
            self._begin(0)

    @property
    def withdrawn(self) -> bool:
        return self._memory is not None and 0 != self._number == _WITHDRAWN.unpack_from(self._memory, _HEAD.size)[0]

    def beat(self) -> None:
        """Say how long the request has taken; called again and again while it is worked on."""
        if self._memory is not None:
            _USED.pack_into(self._memory, _HEAD.size + _WITHDRAWN.size, time.process_time() - self._began)

    def begin(self, source: SourceText, node: ast.AST, name: str = "") -> bool:
        if (self._in_step or self._memory is None) and not self._left_out:
            return True
        part = self._parts.get((node, name))  # a definition is a statement, too
        if part is None:
            kind, line = "function" if name else "statement", getattr(node, "lineno", 1)
            part = self._parts[node, name] = Part(kind, source.path, name, line, _digest(source.segment(node)))
        return self._entered(part)

    def end(self) -> None:
        if not self._in_step:
            self._depth -= 1
            self._write_depth()

    @contextlib.contextmanager
    def step(self, source: SourceText, kind: str, name: str = "") -> Iterator[bool]:
        """A step of the engine, as one part whatever is followed in it; false where it is left out."""
        nested = self._in_step
        if not self._entered(Part(kind, source.path, name, 1, _digest(source.text))):
            yield False
            return
        self._in_step = True
        try:
            yield True
        finally:
            self._in_step = nested
            self.end()

    def _begin(self, number: int) -> None:
        self._depth, self._free, self._in_step = 0, _FIRST, False
        self._number, self._began = number, time.process_time()
        self._parts.clear()
        self._places.clear()
        self.met = {}
        if self._memory is not None:
            _HEAD.pack_into(self._memory, 0, number, 0)
            self.beat()

    def _entered(self, part: Part) -> bool:
        if part.identity in self._left_out:
            self.met[part] = None
            return False
        if self._in_step:
            return True
        if self._memory is not None and self._depth < DEPTH:
            place = self._places.get(part)
            if place is None:
                place = self._places[part] = self._describe(self._memory, part)
            _PLACE.pack_into(self._memory, _PLACES + self._depth * _PLACE.size, place)
        self._depth += 1
        self._write_depth()
        return True

    def _describe(self, memory: mmap.mmap, part: Part) -> int:
        description = json.dumps(part).encode()
        place, end = self._free, self._free + _LENGTH.size + len(description)
        if end > SIZE:
            return 0
        _LENGTH.pack_into(memory, place, len(description))
        memory[place + _LENGTH.size : end] = description
        self._free = end
        return place

    def _write_depth(self) -> None:
        if self._memory is not None:
            _PLACE.pack_into(self._memory, _PLACE.size, self._depth)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


@cache
def of_this_process() -> Progress:
    """The memory that this process, a worker, was given to write into."""
    name = os.environ.pop(VARIABLE, None)
    if name is None:
        return Progress()
    try:
        if sys.platform == "win32":
            return Progress(mmap.mmap(-1, SIZE, tagname=name))
        descriptor = int(name)
        try:
            return Progress(mmap.mmap(descriptor, SIZE))
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return Progress()

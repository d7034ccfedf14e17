"""Where the user's code is: a code object and an instruction, looked up as a line and columns when they are sent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from torchsleuth.runtime.registry import code_span, file_of

MAX_DEPTH = 60
"""Frames that are looked at for one of the user's."""
MAX_CODES = 50_000
Key = tuple[CodeType, int, int]
"""Code, instruction and line."""
At = tuple[int, int]
"""The identity of a code object and an instruction: what a place is looked up by. A code object's own hash is made of all that
is in it, which takes up to a tenth of a millisecond for that of a module."""


class Places:
    """Finds the innermost frame of the user's files."""

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._owns = owns
        self._known: dict[int, tuple[bool, CodeType]] = {}
        """By identity, which is theirs as long as they are kept here."""

    def is_own(self, code: CodeType) -> bool:
        known = self._known.get(id(code))
        if known is None:
            if len(self._known) >= MAX_CODES:
                self._known.clear()
            known = self._known[id(code)] = (self._owns(code.co_filename), code)
        return known[0]

    def here(self, depth: int = 1) -> Key | None:
        """The innermost place in the user's code; `depth` frames are passed over."""
        try:
            frame: FrameType | None = sys._getframe(depth + 1)
        except ValueError:
            return None
        return self.of(frame)

    def of(self, frame: FrameType | None) -> Key | None:
        found = self.frame_of(frame)
        return None if found is None else (found.f_code, found.f_lasti, found.f_lineno)

    def frame(self, depth: int = 1) -> FrameType | None:
        """The innermost frame of the user's code; `depth` frames are passed over."""
        try:
            return self.frame_of(sys._getframe(depth + 1))
        except ValueError:
            return None

    def frame_of(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the user's code from a frame on."""
        is_own = self.is_own
        for _ in range(MAX_DEPTH):
            if frame is None or is_own(frame.f_code):
                return frame
            frame = frame.f_back
        return None


def at(key: Key) -> At:
    return id(key[0]), key[1]


def to_json(key: Key | None) -> dict[str, Any] | None:
    if key is None:
        return None
    code, instruction, line = key
    return {"path": file_of(code), "line": line, "span": code_span(code, instruction), "function": code.co_name}

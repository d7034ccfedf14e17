"""Prints the traceback of the main program in another way than Python does, where that was asked for or Python cannot: short,
frames of libraries folded; and of a notebook, whose places are cells."""

from __future__ import annotations

import bisect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

VARIABLE = "TORCHSLEUTH_TRACEBACK"
"""Environment variable: ``short`` folds frames, ``full`` shows them all; removed before the user's code starts."""
_FRAME = re.compile(r'^  File "(.+)", line (\d+)(?:, in .*)?\n')
_MIN_FOLDED = 2
"""Frames of libraries in a row, below which they are shown."""


def cell_of(beginnings: Sequence[int], line: int) -> tuple[int, int]:
    """The cell and the line in it, for a line of the text of a notebook."""
    number = max(bisect.bisect_right(beginnings, line), 1)
    return number, max(line - beginnings[number - 1], 1)


class Printer:
    """How an uncaught exception is printed. `owns` tells the user's files."""

    def __init__(self, owns: Callable[[str], bool], short: bool, cells: Mapping[str, Sequence[int]]) -> None:
        """`cells`: by path, the lines of notebooks before which their cells begin."""
        self._owns = owns
        self._short = short
        self._cells = cells

    def install(self) -> None:
        """Called when an exception is about to leave the main program. Whoever prints them himself goes on to do so."""
        if (self._short or self._cells) and sys.excepthook is sys.__excepthook__:
            sys.excepthook = self._print

    def _print(self, kind: type[BaseException], error: BaseException, at: TracebackType | None) -> Any:
        try:
            lines = traceback.format_exception(kind, error, at)
            text = "".join(self._folded(lines))
        except Exception:
            return sys.__excepthook__(kind, error, at)
        stream = sys.stderr
        if stream is not None:
            stream.write(text)
            stream.flush()
        return None

    def _folded(self, lines: list[str]) -> Iterator[str]:
        """The lines with the frames of libraries in a row as one, except for the frame that raised."""
        waiting: list[str] = []
        for line in lines:
            found = _FRAME.match(line)
            if found is not None and self._short and not self._owns(found[1]):
                waiting.append(line)
                continue
            # What follows the frames is the error: the last one of them raised it.
            if waiting:
                yield from _fold(waiting)
                waiting = []
            yield line if found is None else self._in_cells(found[1], int(found[2]), line)
        yield from _fold(waiting)

    def _in_cells(self, path: str, line: int, text: str) -> str:
        if path not in self._cells:
            return text
        cell, inside = cell_of(self._cells[path], line)
        return text.replace(f'"{path}", line {line}', f'"{path}", cell {cell}, line {inside}', 1)


def _fold(frames: list[str]) -> Iterator[str]:
    *hidden, last = frames or [""]
    if len(hidden) < _MIN_FOLDED:
        yield from hidden
    else:
        packages = dict.fromkeys(filter(None, map(_package, hidden)))
        yield f"  … {len(hidden)} frames of {', '.join(packages)} …\n"
    yield last


def _package(frame: str) -> str | None:
    found = _FRAME.match(frame)
    if found is None:
        return None
    parts = found[1].replace("\\", "/").split("/")
    for name in ("site-packages", "dist-packages"):
        if name in parts[:-1]:
            return parts[parts.index(name) + 1].removesuffix(".py")
    return "Python" if found[1].startswith((os.path.dirname(os.__file__), "<frozen")) else os.path.basename(found[1])

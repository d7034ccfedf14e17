"""Errors that the script itself catches around its training, or around all that it does: it goes on, and nobody hears of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import TYPE_CHECKING, Any

from torchsleuth.runtime.registry import file_of

if TYPE_CHECKING:
    from torchsleuth.runtime.crash import CrashReporter

MAX_HANDLERS = 8
_KINDS = (RuntimeError, ValueError, TypeError, IndexError)
"""Types of what operators and modules raise."""


class CaughtErrors:
    """The first error of PyTorch's that each handler took, described as a crash is, and how many there were."""

    def __init__(self, reporter: CrashReporter, steps: Callable[[], int | None]) -> None:
        """`steps`: how many a training has made; None where there is none."""
        self._reporter = reporter
        self._steps = steps
        self._found: dict[tuple[CodeType, int], dict[str, Any]] = {}

    def note(self, last: bool) -> None:
        """A handler begins. `last`: of the last statement of a program, and not right around steps of a training."""
        try:
            error = sys.exc_info()[1]
            if isinstance(error, _KINDS):
                frame = sys._getframe(1)
                self._take(error, (frame.f_code, frame.f_lineno), last)
        except Exception:
            return  # the script's own handling of its error is what has to go on

    def _take(self, error: Exception, handler: tuple[CodeType, int], last: bool) -> None:
        known = self._found.get(handler)
        if known is None:
            if len(self._found) >= MAX_HANDLERS or not self._reporter.is_of_torch(error):
                return
            place = {"path": file_of(handler[0]), "line": handler[1]}
            known = self._found[handler] = {
                **self._reporter.report(error, error.__traceback__),
                "caught": {**place, "count": 0, "last": last, "before": self._steps()},
            }
        known["caught"]["count"] += 1

    def that_undo(self) -> Iterator[dict[str, Any]]:
        """Those that left nothing of a training, or ended it together with all that the program does."""
        steps = self._steps()
        if steps is None:
            return
        for found in self._found.values():
            caught = found["caught"]
            through = len(found["frames"]) > 1 and caught["before"] == steps
            if through if caught["last"] else caught["count"] >= max(1, steps):
                yield found

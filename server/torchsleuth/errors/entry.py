"""An entry of the catalogue of run-time errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from torchsleuth.errors.case import Case
from torchsleuth.errors.fixes import FixBuilder, no_fix
from torchsleuth.explanations import family
from torchsleuth.faults import FAULTS, Fault
from torchsleuth.schema import Related


@dataclass(frozen=True)
class ErrorEntry:
    """`code`: None for that of the family that the message belongs to. `related`: further places that explain it. `expression`: what a message has to match. `text` is the id of the message or chooses one; `applies` tells whether a message that matches means this.

    `example` is a script that raises the error on the installed torch (None where that takes an accelerator); the
    tests run it. `plain`: the message is followed by the operands.
    """

    code: str | None
    expression: str
    text: str | Callable[[Case], str]
    fixes: FixBuilder = no_fix
    applies: Callable[[Case], bool] = lambda case: True
    example: str | None = None
    related: Callable[[Case], list[Related]] = lambda case: []
    plain: bool = False
    values: Callable[[Case], dict[str, str]] = lambda case: {}
    """Those that the message names beside the ones of every crash."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first asked for: there are hundreds, and most processes need none."""
        return re.compile(self.expression, re.DOTALL)

    def fault_of(self, case: Case) -> Fault:
        return FAULTS[self.code or family(case.crash["message"]) or "TS199"]


def entry(
    code: str | None,
    pattern: str,
    text: str | Callable[[Case], str],
    fixes: FixBuilder = no_fix,
    *,
    applies: Callable[[Case], bool] = lambda case: True,
    example: str | None = None,
    related: Callable[[Case], list[Related]] = lambda case: [],
    values: Callable[[Case], dict[str, str]] = lambda case: {},
) -> ErrorEntry:
    return ErrorEntry(code, pattern, text, fixes, applies, example, related, values=values)

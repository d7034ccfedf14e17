"""Processes that were killed, that hang, and ranks that differ: found by those who watch them (`runtime/together.py`), and only put
on their line here."""

from __future__ import annotations

from collections.abc import Callable

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.messages import message
from torchsleuth.schema import Related

MAX_THREADS = 3


def _of(kind: str) -> Callable[[Case], bool]:
    return lambda case: case.crash["type"] == kind


def _elsewhere(case: Case) -> list[Related]:
    """Where the other threads, or the other ranks, are."""
    found = []
    for place in case.crash.get("other_places", [])[:MAX_THREADS]:
        span = CrashFrame({"span": None, **place, "operands": []}, case.sources).span
        found.append(Related(span.path, span.start, span.end, message("error.elsewhere", function=place["function"])))
    return found


ENTRIES = (
    entry("TS915", r"", "error.told", applies=_of("Signal"), related=_elsewhere),
    entry("TS916", r"", "error.told", applies=_of("Hang"), related=_elsewhere),
    entry("TS917", r"", "error.told", applies=_of("Ranks")),
    entry("TS625", r"", "error.told", applies=_of("Batches")),
)

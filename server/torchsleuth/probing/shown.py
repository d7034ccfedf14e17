"""The answer of a probe in words: as lines for a terminal, and as data for the page of a report."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.numbers import number
from torchsleuth.probing.result import Outcome, Place, Result
from torchsleuth.report.view import View
from torchsleuth.schema import Json

MAX_ROWS = 16
"""Points of a curve that are shown."""
_STATES: dict[Outcome, str] = {"passed": "good", "found": "bad", "impossible": "unknown"}


def verdict(result: Result) -> str:
    return message("cli.probe.verdict", kind=result.kind, verdict=message(f"cli.probe.{result.outcome}"))


def lines(result: Result) -> Iterator[str]:
    """The verdict, what was measured, and the places, each in a line."""
    yield f"{verdict(result)}: {result.message}"
    if result.place is not None:
        yield f"  {_at(result.place)}"
    yield from (f"  {text}" for text in result.details)
    yield from (f"  {text} ({_at(place)})" for text, place in result.related)
    if result.diagnosis is not None:
        yield from (f"  {fix.title}" for fix in result.diagnosis.fixes[:1])


def _at(place: Place) -> str:
    return f"{os.path.basename(place.path)}:{place.start.line}"


def points(result: Result) -> list[tuple[float, float]]:
    """Some points of the curve: the means of as many neighbours as it takes."""
    step = max(1, -(-len(result.curve) // MAX_ROWS))
    some = [result.curve[index : index + step] for index in range(0, len(result.curve), step)]
    return [(part[0][0], sum(value for _, value in part) / len(part)) for part in some]


def for_page(result: Result, view: View) -> Json:
    """The probe as the page shows it."""

    def at(place: Place | None) -> Json | None:
        return None if place is None else view.place(place.path, place.start.line, place.start.column)

    return {
        "kind": result.kind,
        "name": message(f"page.probe.{result.kind}"),
        "state": _STATES[result.outcome],
        "verdict": message(f"cli.probe.{result.outcome}"),
        "message": result.message,
        "place": at(result.place),
        "details": list(result.details),
        "related": [{"message": text, "place": at(place)} for text, place in result.related],
        "finding": None if result.diagnosis is None else view.finding(result.diagnosis),
        "curve": _curve(result),
    }


def _curve(result: Result) -> Json | None:
    rows = points(result)
    if len(rows) < 2:
        return None
    low, high = min(value for _, value in rows), max(value for _, value in rows)
    share = [(value - low) / (high - low) if high > low else 0.0 for _, value in rows]
    return {
        "name": result.kind,
        "title": message("page.probe_curve", axis=result.axis),
        "about": "",
        "parts": [{"name": number(at), "share": part, "text": number(value)} for (at, value), part in zip(rows, share)],
    }

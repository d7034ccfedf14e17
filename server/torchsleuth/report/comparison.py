"""A run and the one before it, as the page and the command line show them."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from torchsleuth.messages import message
from torchsleuth.numbers import share
from torchsleuth.report import compare
from torchsleuth.report.compare import Broken, Number
from torchsleuth.report.history import Kept
from torchsleuth.report.view import plots
from torchsleuth.schema import Json
from torchsleuth.training import Place, Training


@dataclass(frozen=True)
class Comparison:
    """The differences between two runs. `healthy`: the run that `broken` is about."""

    before: Kept
    now: Kept
    healthy: Kept | None
    earlier: Training
    broken: tuple[Broken, ...]
    numbers: tuple[Number, ...]
    versions: tuple[tuple[str, str, str], ...]
    code: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, now: Kept, before: Sequence[Kept]) -> Comparison | None:
        """None where the runs cannot be read, or trained nothing."""
        last = before[0]
        training, earlier = now.training, last.training
        if training is None or earlier is None:
            return None
        healthy = next((kept for kept in before if kept.healthy), None)
        reference = healthy.training if healthy is not None else None
        return cls(
            last,
            now,
            healthy,
            earlier,
            compare.broken(reference, training) if reference is not None else (),
            compare.numbers(earlier, training),
            compare.versions(last.report, now.report),
            compare.code(last.sources, now.sources) if last.sources and now.sources else (),
        )

    def to_json(self, root: str) -> Json:
        """In the form that the page shows."""
        return {
            "title": self._title(),
            "broken": [{"text": item.text, "place": _place(item.place, root)} for item in self.broken],
            "numbers": [
                {
                    "name": message(f"compare.number.{item.name}"),
                    "before": item.told(item.before),
                    "now": item.told(item.now),
                    "change": percent(item.change) if item.changed else "",
                    "worse": item.worse,
                }
                for item in self.numbers
            ],
            "versions": [{"name": name, "before": old, "now": new} for name, old, new in self.versions],
            "code": compare.shown_code(self.code, root),
        }

    def _title(self) -> str:
        when = _when(self.before)
        if self.healthy is None or self.healthy is self.before:
            return message("compare.with", time=when)
        return message("compare.with_healthy", time=when, healthy=_when(self.healthy))

    def overlay(self, drawn: list[Json]) -> None:
        """Puts the lines of the run before under those of this one."""
        old = {plot["name"]: plot for plot in plots(self.earlier)}
        for plot in drawn:
            lines = old.get(plot["name"], {}).get("series", ())
            plot["series"] += [{**line, "before": True, "bad": 0} for line in lines]


def percent(change: float | None) -> str:
    """``+12 %``; empty for what is not known."""
    if change is None:
        return ""
    return ("+" if change >= 0 else "−") + share(abs(change))


def _when(kept: Kept) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(kept.time))


def _place(place: Place | None, root: str) -> Json | None:
    if place is None:
        return None
    name = place.path.removeprefix(root + os.sep)
    column = place.span[1] + 1 if place.span is not None else 1
    return {"path": place.path, "line": place.line, "column": column, "text": f"{name}:{place.line}"}

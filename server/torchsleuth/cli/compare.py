"""``torchsleuth compare``: two reports of runs, and an exit status where the second one is worse than is allowed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.cli.output import complain, data, line
from torchsleuth.messages import message
from torchsleuth.numbers import number, share
from torchsleuth.report.compare import last_loss, peak_memory, step_time
from torchsleuth.report.comparison import Comparison, percent
from torchsleuth.report.history import Kept
from torchsleuth.report.losses import by_place
from torchsleuth.training import Training

MAX_BYTES = 64 << 20
"""Of a report."""
_LIMITS = {"slower": 0.1, "memory": 0.1, "loss": 0.05}
"""The figures that may be worse, and by how much where nothing is said."""


@dataclass(frozen=True)
class Condition:
    """The figures in which the second run may be worse, and by which part."""

    what: str
    limit: float


def compare(first: Path, second: Path, fail_on: str | None, output_format: str) -> int:
    """0: none of the conditions is met; 1: one is; 2: a report or a condition cannot be read."""
    try:
        before, now = _read(first), _read(second)
        conditions = tuple(_conditions(fail_on or ""))
    except ValueError as error:
        complain(str(error))
        return 2
    found = Comparison.of(now, (before,))
    assert found is not None
    failures = [text for one in conditions if (text := _failure(one, before.training, now.training)) is not None]
    if output_format == "json":
        root = os.path.dirname(str(now.report.get("script")))
        shown = {
            "broken": found.to_json(root)["broken"],
            "numbers": [item.to_json() for item in found.numbers],
            "versions": [{"name": name, "before": old, "now": new} for name, old, new in found.versions],
            "failures": failures,
        }
        data(json.dumps(shown, indent=2))
    else:
        _print(found)
        for text in failures:
            complain(text)
    return 1 if failures else 0


def _print(found: Comparison) -> None:
    for item in found.broken:
        place = "" if item.place is None else f" ({item.place.path}:{item.place.line})"
        line(message("compare.broken", text=item.text) + place)
    for number_ in found.numbers:
        change = f" ({percent(number_.change)})" if number_.changed and number_.change is not None else ""
        name = message(f"compare.number.{number_.name}")
        values = {"before": number_.told(number_.before), "now": number_.told(number_.now)}
        line(message("compare.line", name=name, change=change, **values))
    for name, old, new in found.versions:
        line(message("compare.version", name=name, before=old, now=new))


def _read(path: Path) -> Kept:
    """A report that ``run --report`` has written. Raises ValueError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(message("file.large", path=path, limit=MAX_BYTES >> 20))
        report = json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(message("cli.compare.unreadable", path=path, error=error.strerror or error)) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(message("cli.compare.unreadable", path=path, error=error)) from None
    recorded = report.get("recorded") if isinstance(report, dict) else None
    # A run with findings is no reference for what has to hold.
    sound = isinstance(report, dict) and report.get("exit_code") == 0 and not report.get("diagnostics")
    kept = Kept(report, "good" if sound else "warning", path.stat().st_mtime, {}) if recorded else None
    if kept is None or kept.training is None:
        raise ValueError(message("cli.compare.unreadable", path=path, error=message("cli.compare.no_record")))
    return kept


_CONDITION = re.compile(r"(?P<what>\w+)(?:=(?P<limit>\d+(?:\.\d+)?)(?P<percent>\s*%)?)?")


def _conditions(text: str) -> Iterator[Condition]:
    """``slower=10%,memory=0.1,loss``. Raises ValueError."""
    for part in filter(None, map(str.strip, text.split(","))):
        found = _CONDITION.fullmatch(part)
        if found is None or found["what"] not in _LIMITS:
            raise ValueError(message("cli.compare.condition", text=part))
        limit = _LIMITS[found["what"]] if found["limit"] is None else float(found["limit"])
        yield Condition(found["what"], limit / 100 if found["percent"] else limit)


def _failure(condition: Condition, before: Training | None, now: Training | None) -> str | None:
    """Why a condition is met, None where it is not. What is not known of a run is no reason to let it pass."""
    assert before is not None and now is not None
    look = {"slower": step_time, "memory": peak_memory, "loss": last_loss}[condition.what]
    old, new = look(before), look(now)
    limit = share(condition.limit)
    if condition.what == "loss" and new is None and old is not None and by_place(now):
        return message("compare.failed.loss_bad")
    if old is None or new is None:
        return message("compare.failed.unknown", what=condition.what)
    worse = new - old
    if worse <= condition.limit * abs(old):
        return None
    change = share(worse / abs(old)) if old else number(worse)
    values = {"change": change, "now": number(new), "before": number(old), "limit": limit}
    return message(f"compare.failed.{condition.what}", **values)

"""Logs of trainings that others have written, as series of numbers by name: TensorBoard's event files, ``metrics.csv`` of
Lightning, ``trainer_state.json`` of the Trainer, CSV and JSON lines."""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from torchsleuth.messages import message
from torchsleuth.report.eventfiles import read as read_events
from torchsleuth.sifting import any_are

MAX_BYTES = 256 << 20
"""Of one file."""
MAX_FILES = 400
MAX_POINTS = 2_000_000
_STEPS = ("global_step", "step", "iteration", "iter", "_step", "trainer/global_step", "batch", "epoch")
"""Columns that count, the finest first."""
_COUNTERS = frozenset({*_STEPS, "_timestamp", "_runtime", "time", "timestamp", "wall_time", "total_flos"})

_LARGEST_BITS = 1023
"""Of an integer that is a number of floating point, too."""

Points = list[tuple[float, float]]
Logs = dict[str, Points]
"""Steps and values by name, in the order of the log."""


class NoLog(Exception):
    """A path that holds no log; the message says why."""


def read(path: Path) -> dict[str, Logs]:
    """The logs at a path, by the file or folder that each is of. Raises NoLog."""
    if not path.exists():
        raise NoLog(message("file.missing", path=path))
    if not path.is_dir():
        return {str(path): _read_file(path)}
    found: dict[str, Logs] = {}
    for file in _files(path):
        name = str(file.parent) if _is_event_file(file) else str(file)
        try:
            logs = _read_file(file)
        except NoLog:
            continue
        for tag, points in logs.items():
            found.setdefault(name, {}).setdefault(tag, []).extend(points)
    if not found:
        raise NoLog(message("cli.diagnose.none", path=path))
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Files in a folder that are logs by their names."""
    count = 0
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(at, name)
            if _is_event_file(file) or name == "trainer_state.json" or file.suffix in (".csv", ".jsonl"):
                count += 1
                if count > MAX_FILES:
                    return
                yield file


def _is_event_file(path: Path) -> bool:
    return ".tfevents." in path.name or "tfevents" in path.suffix


def _read_file(path: Path) -> Logs:
    """Raises NoLog."""
    try:
        if not path.is_file():
            raise NoLog(message("file.special", path=path))
        if path.stat().st_size > MAX_BYTES:
            raise NoLog(message("file.large", path=path, limit=MAX_BYTES >> 20))
        data = path.read_bytes()
    except OSError as error:
        raise NoLog(message("file.unreadable", path=path, error=error.strerror or error)) from None
    reader = _reader(path, data)
    try:
        found = reader(data)
    except (ValueError, RecursionError, csv.Error) as error:
        raise NoLog(message("cli.diagnose.unreadable", path=path, error=error)) from None
    logs = {name: points for name, points in found.items() if points}
    if not logs:
        raise NoLog(message("cli.diagnose.none", path=path))
    return logs


def _reader(path: Path, data: bytes) -> Callable[[bytes], Logs]:
    if _is_event_file(path):
        return _events
    begin = data.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if path.suffix in (".jsonl", ".ndjson") or begin in (b"{", b"["):
        return _json
    return _csv


def _events(data: bytes) -> Logs:
    found: Logs = {}
    for scalar in read_events(data):
        found.setdefault(scalar.tag, []).append((float(scalar.step), scalar.value))
    return found


def _json(data: bytes) -> Logs:
    """``trainer_state.json``, a list of records, columns by name, or a record a line."""
    text = data.decode("utf-8-sig", "replace")
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    match whole:
        case dict() if isinstance(whole.get("log_history"), list):
            return _records(whole["log_history"])
        case list():
            return _records(whole)
        case dict() if any_are(whole.values(), list):
            columns = {str(name): column for name, column in whole.items() if isinstance(column, list)}
            count = max(map(len, columns.values()))
            return _records(
                {name: column[i] for name, column in columns.items() if i < len(column)} for i in range(count)
            )
    return _records(_lines(text))


def _lines(text: str) -> Iterator[Any]:
    """The records of a log that has one a line; the last line may be half of one."""
    for line in text.splitlines():
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError:
                yield None


def _csv(data: bytes) -> Logs:
    text = data.decode("utf-8-sig", "replace")
    if "\0" in text:
        raise ValueError("binary")
    try:
        dialect: Any = csv.Sniffer().sniff(text[:4096], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    return _records(csv.DictReader(io.StringIO(text), dialect=dialect))


def _records(records: Iterable[Any]) -> Logs:
    """Columns of records that are mappings; the steps are those of the finest column that counts, else the numbers of rows."""
    found: Logs = {}
    total = 0
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            continue
        flat = dict(_flat(record))
        step = next((value for name in _STEPS if (value := flat.get(name)) is not None and math.isfinite(value)), row)
        for name, value in flat.items():
            if name.lower() not in _COUNTERS:
                found.setdefault(name, []).append((float(step), value))
                total += 1
        if total > MAX_POINTS:
            break
    return found


def _flat(record: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Numbers by name; those of a mapping inside under both names."""
    for name, value in record.items():
        if isinstance(value, Mapping) and not before:
            yield from _flat(value, f"{name}/")
        elif (number := _number(value)) is not None:
            yield f"{before}{name}", number


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    match value:
        case int() if value.bit_length() > _LARGEST_BITS:
            return math.inf if value > 0 else -math.inf  # as JSON has it with a point or an exponent
        case int() | float():
            return float(value)
        case str() if value.strip():
            try:
                return float(value)
            except ValueError:
                return None
    return None

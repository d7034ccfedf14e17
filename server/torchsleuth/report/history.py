"""The reports of earlier runs of a script, with the code that ran: in the user's cache, for its owner alone, a few of each."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.caches import folder
from torchsleuth.report.view import verdict
from torchsleuth.runtime.report import RunReport
from torchsleuth.schema import Json
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Training

RUNS = 8
"""Runs that are kept of a script."""
SCRIPTS = 60
"""Scripts whose runs are kept."""
MAX_BYTES = 8 << 20
"""Of one report, uncompressed."""
MAX_SOURCE = 400_000
"""Characters of a file that are kept."""
MAX_SOURCES = 60


@dataclass(frozen=True)
class Kept:
    """A run as it is kept: its report as JSON, how it was judged, and the files that ran."""

    report: Json
    state: str
    time: float
    sources: dict[str, str]

    @property
    def training(self) -> Training | None:
        """None where there was none, or its record is not of this version."""
        try:
            found = self.report.get("recorded")
            return None if found is None else Training.of_json(found)
        except (TypeError, ValueError, KeyError):
            return None

    @property
    def healthy(self) -> bool:
        return self.state == "good"


def remember(report: RunReport, sources: Callable[[str], SourceText]) -> None:
    """Keep a run that trained. Whatever stands in the way, nothing is kept then."""
    kept = of_report(report, sources)
    if kept is None or report.cancelled:
        return
    entry = {"report": kept.report, "state": kept.state, "time": kept.time, "sources": kept.sources}
    data = json.dumps(entry).encode()
    if len(data) > MAX_BYTES:
        return
    with contextlib.suppress(OSError):
        target = _folder_of(report.script)
        for path in (target.parent.parent, target.parent, target):
            path.mkdir(mode=0o700, parents=path == target.parent.parent, exist_ok=True)
        if _is_ours(target.parent) and _is_ours(target):
            _write(target / f"{time.time_ns():020d}.json.gz", gzip.compress(data, 5))
            _forget(target)


def of_report(report: RunReport, sources: Callable[[str], SourceText]) -> Kept | None:
    """A run as it would be kept; None for one that did not train."""
    if report.recorded is None or not report.recorded.steps:
        return None
    texts = {path: sources(path).text for path in report.loaded[:MAX_SOURCES]}
    found = report.to_json()
    for large in ("facts", "lines"):
        found.pop(large)
    return Kept(
        json.loads(json.dumps(found)),
        verdict(report)[0],
        time.time(),
        {path: text for path, text in texts.items() if len(text) <= MAX_SOURCE},
    )


def earlier(script: str) -> tuple[Kept, ...]:
    """The runs of a script that are kept, the last one first."""
    return tuple(_read(_folder_of(script)))


def _read(target: Path) -> Iterator[Kept]:
    with contextlib.suppress(OSError):
        if not _is_ours(target):
            return
        for path in sorted(target.glob("*.json.gz"), reverse=True)[:RUNS]:
            kept = _kept(path)
            if kept is not None:
                yield kept


def _kept(path: Path) -> Kept | None:
    """None for a file that is none of ours, or half of one."""
    try:
        with gzip.open(path) as file:
            found = json.loads(file.read(MAX_BYTES + 1))
        return Kept(dict(found["report"]), str(found["state"]), float(found["time"]), dict(found["sources"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None


def _folder_of(script: str) -> Path:
    name = hashlib.sha256(os.path.abspath(script).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return folder() / "runs" / name


def _is_ours(path: Path) -> bool:
    """Whether nobody else could have written what is in a folder; others are kept from reading it."""
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        return False
    if os.name != "nt" and stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(path, 0o700)
    return True


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _forget(target: Path) -> None:
    """The oldest runs of a script, and the scripts that were run longest ago."""
    for path in sorted(target.glob("*.json.gz"), reverse=True)[RUNS:]:
        path.unlink(missing_ok=True)
    scripts = sorted((path for path in target.parent.iterdir()), key=lambda path: path.stat().st_mtime, reverse=True)
    for folder_of_script in scripts[SCRIPTS:]:
        for path in folder_of_script.glob("*.json.gz"):
            path.unlink(missing_ok=True)
        folder_of_script.rmdir()

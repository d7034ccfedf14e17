"""The oracle's answers on disk: what one worker found out, the next one knows.

One SQLite database for all versions of torch, of Python and of what computes the answers; several workers may use it at
once. Questions are kept as digests, answers as JSON of our own descriptions and plain numbers, each with a checksum: nothing
of what is read is executed, and what is damaged is not believed. A database that cannot be read is begun again, and
where there can be none, nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from torchsleuth.tensors import device, dims, spec

try:
    import sqlite3
except ImportError:  # a Python that was built without it
    sqlite3 = None  # type: ignore[assignment]

NAME = "answers-1.sqlite3"
"""Of the file; the number is that of its structure."""
MAX_BYTES = 16 << 20
"""Size of what is in the database beyond which the oldest answers are forgotten."""
PATIENCE_SECONDS = 0.5
"""Time in which another worker has to finish its writing."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, version TEXT NOT NULL, question BLOB NOT NULL, "
    "answer BLOB NOT NULL, checksum BLOB NOT NULL, UNIQUE (version, question))"
)
_SOURCES = (Path(__file__).parent, Path(spec.__file__).parent)
_KINDS = {
    name: value
    for module in (dims, spec, device)
    for name, value in vars(module).items()
    if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "__dataclass_fields__")
}
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in _KINDS.values()}
_TYPES = {"bool": bool, "float": float, "complex": complex, "NoneType": type(None), **_KINDS}
_NAMES = {kind: name for name, kind in _TYPES.items()}


class Unstorable(Exception):
    """A question or an answer that cannot be written down."""


class Store:
    """A database of answers. Every method does nothing where there can be none."""

    def __init__(self, folder: Path, torch_version: str) -> None:
        self.path = folder / NAME
        self._version = _fingerprint(torch_version)
        self._connection: sqlite3.Connection | None = None
        self._open()

    def get(self, question: Any) -> Any:
        """The answer to a question, None where there is none."""
        with self._surely():
            if self._connection is not None:
                digest = _digest(question)
                row = self._connection.execute(
                    "SELECT answer, checksum FROM answers WHERE version = ? AND question = ?", (self._version, digest)
                ).fetchone()
                if row is not None and isinstance(row[0], bytes) and row[1] == _checksum(digest, row[0]):
                    return decoded(json.loads(row[0]))
        return None

    def add(self, answers: Mapping[Any, Any]) -> bool:
        """Keep answers; false where another worker is in the way, and it may be tried again."""
        with self._surely() as outcome:
            if self._connection is not None and answers:
                rows = list(self._rows(answers))
                with self._connection as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany(
                        "INSERT OR REPLACE INTO answers (version, question, answer, checksum) VALUES (?, ?, ?, ?)", rows
                    )
                    if self._used() > MAX_BYTES:
                        connection.execute(
                            "DELETE FROM answers WHERE id <= "
                            "(SELECT id FROM answers ORDER BY id LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM answers))"
                        )
        return not outcome

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _rows(self, answers: Mapping[Any, Any]) -> Iterator[tuple[str, bytes, bytes, bytes]]:
        for question, answer in answers.items():
            with contextlib.suppress(Unstorable, RecursionError, ValueError):
                digest, text = _digest(question), _written(answer)
                yield self._version, digest, text, _checksum(digest, text)

    def _used(self) -> int:
        """Bytes of the database that hold something."""
        assert self._connection is not None
        pages, free, size = (
            int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    @contextlib.contextmanager
    def _surely(self) -> Iterator[list[Exception]]:
        """A failure of the database or of the disk ends what is done here, and nothing else. Yields the failures after which it
        may be tried again."""
        again: list[Exception] = []
        try:
            yield again
        except (Unstorable, RecursionError, ValueError, TypeError, KeyError):
            return  # another structure than ours: no answer
        except Exception as error:
            if sqlite3 is None or not isinstance(error, sqlite3.Error | OSError):
                raise
            if isinstance(error, sqlite3.OperationalError):
                if "locked" in str(error) or "busy" in str(error):
                    again.append(error)
                else:
                    self._stop_writing()
            elif isinstance(error, sqlite3.DatabaseError):
                self._begin_again()

    def _open(self) -> None:
        if sqlite3 is None:
            return
        try:
            if not _private(self.path):
                return
            # Work may be done in one thread after the other.
            connection = sqlite3.connect(
                self.path, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (sqlite3.Error, OSError):
            return
        self._connection = connection
        with self._surely():
            # What is lost with the power can be computed again.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            if os.access(self.path, os.W_OK):
                connection.execute(_TABLE)

    def _begin_again(self) -> None:
        """The file is no database, or is damaged."""
        first = self._connection is not None
        self.close()
        try:
            for path in (self.path, self.path.with_name(f"{NAME}-journal")):
                path.unlink(missing_ok=True)
        except OSError:
            return
        if first:
            self._open()

    def _stop_writing(self) -> None:
        """The disk is full, or nothing may be written: what is there can still be read."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA query_only = ON")


def encoded(value: Any) -> Any:
    """A description as JSON. Raises Unstorable."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is tuple:
        return [encoded(item) for item in value]
    if type(value) in _FIELDS:
        kind = type(value)
        return {"kind": _NAMES[kind], "of": [encoded(getattr(value, name)) for name in _FIELDS[kind]]}
    if type(value) is complex:
        return {"complex": [value.real, value.imag]}
    if value is ...:
        return {"dots": True}
    if isinstance(value, type) and value in _NAMES:
        return {"type": _NAMES[value]}
    raise Unstorable(type(value).__name__)


def decoded(value: Any) -> Any:
    """The description that JSON is of. Raises KeyError, TypeError or ValueError where it is of none."""
    if isinstance(value, list):
        return tuple([decoded(item) for item in value])
    if not isinstance(value, dict):
        return value
    if "kind" in value:
        return _KINDS[value["kind"]](*[decoded(item) for item in value["of"]])
    if "complex" in value:
        return complex(*value["complex"])
    if "type" in value:
        return _TYPES[value["type"]]
    if "dots" in value:
        return ...
    raise ValueError(value)


def _written(value: Any) -> bytes:
    return json.dumps(encoded(value), separators=(",", ":")).encode()


def _digest(question: Any) -> bytes:
    return hashlib.sha256(_written(question)).digest()


def _checksum(digest: bytes, answer: bytes) -> bytes:
    return hashlib.sha256(digest + answer).digest()[:8]


def _private(path: Path) -> bool:
    """Whether a file is this user's own, and nobody else can change it; made so where it is this user's."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        return True  # it lies in the user's profile
    folder = os.lstat(path.parent)
    if not stat.S_ISDIR(folder.st_mode) or folder.st_uid != os.geteuid():
        return False
    if stat.S_IMODE(folder.st_mode) & 0o077:
        os.chmod(path.parent, 0o700)
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o600)
    except OSError:
        descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        file = os.fstat(descriptor)
        if not stat.S_ISREG(file.st_mode) or file.st_uid != os.geteuid() or file.st_nlink != 1:
            return False
        if stat.S_IMODE(file.st_mode) & 0o022:
            os.truncate(path, 0)  # others may have written it
        if stat.S_IMODE(file.st_mode) & 0o077:
            os.chmod(path, 0o600)
        return True
    finally:
        os.close(descriptor)


def _fingerprint(torch_version: str) -> str:
    """Of all that an answer depends on."""
    digest = hashlib.sha256(f"{torch_version} {platform.python_version()} {platform.machine()}".encode())
    for path in sorted(path for source in _SOURCES for path in source.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]

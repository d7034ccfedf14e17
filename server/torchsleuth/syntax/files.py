"""Reads the user's files: regular ones of a size that people write, sources decoded as Python decodes them. A notebook is the
program that its cells are (`notebooks.py`).

What lies in a workspace may be anything: a pipe that nobody writes to, a device without end, a link that leads to itself, a
file of 2 GB. No reading of one waits, or takes more memory than a source does.
"""

from __future__ import annotations

import io
import itertools
import os
import stat
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

from torchsleuth.messages import message
from torchsleuth.syntax import notebooks

MAX_BYTES = 5_000_000
"""Size of the largest file that is read; the longest sources that people write have a tenth of it."""
_CHUNK = 1 << 20
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_SLOW = frozenset({"idna", "punycode"})
"""Encodings of host names, whose decoders take the square of the length; nobody writes Python in them."""
_SKIPPED = frozenset({"node_modules", "build", "dist", "__pycache__", "site-packages", "venv"})
_NOTES = (".#", "._")
"""Files that Emacs and macOS lay beside a file, under its name: a link that leads nowhere, and no Python."""


class Unreadable(Exception):
    """A file that cannot be read; the message is one line that says why."""


def check(path: str | os.PathLike[str]) -> None:
    """Raises Unreadable where there is no regular file of a size that is read. Opens nothing."""
    try:
        _check(path, os.stat(path))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file. Raises Unreadable."""
    try:
        _check(path, os.stat(path))  # first: opening a device may already do something
        handle = os.open(path, _FLAGS)
        try:
            _check(path, os.fstat(handle))
            return _all(path, handle)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(path, error) from error


def read_source(path: str | os.PathLike[str]) -> str:
    """The text of a Python file, its line ends as they are. Raises Unreadable."""
    return read_encoded(path)[0]


def read_encoded(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The text of a Python file, its line ends as they are, and its encoding. Raises Unreadable."""
    data = read_bytes(path)
    if notebooks.is_notebook(path):
        try:
            return notebooks.read(data).text, "utf-8"
        except notebooks.NotANotebook as error:
            raise Unreadable(message("file.no_notebook", path=path, error=error)) from error
    try:
        encoding = encoding_of(data)
        return data.decode(encoding), encoding
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise Unreadable(message("file.undecodable", path=path, error=error)) from error


def encoding_of(data: bytes) -> str:
    """The encoding of a source: UTF-8, or what its coding cookie says. Raises SyntaxError where there is none such."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if encoding in _SLOW:
        raise SyntaxError(f"unknown encoding: {encoding}")
    return encoding


def encoded(path: str | os.PathLike[str], text: str, encoding: str) -> bytes:
    """The bytes of a file with another text. Raises Unreadable where it is a notebook that is gone."""
    if not notebooks.is_notebook(path):
        return text.encode(encoding)
    try:
        return notebooks.read(read_bytes(path)).with_text(text).encode()
    except notebooks.NotANotebook as error:
        raise Unreadable(message("file.no_notebook", path=path, error=error)) from error


def _limit(path: str | os.PathLike[str]) -> int:
    return notebooks.MAX_BYTES if notebooks.is_notebook(path) else MAX_BYTES


def _check(path: str | os.PathLike[str], found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise Unreadable(message("file.folder", path=path))
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable(message("file.special", path=path))
    if found.st_size > _limit(path):
        raise _large(path)


def _all(path: str | os.PathLike[str], handle: int) -> bytes:
    """To the end, also of a file that says it is empty (as those of /proc do) or that grows meanwhile."""
    data = bytearray()
    while chunk := os.read(handle, _CHUNK):
        data += chunk
        if len(data) > _limit(path):
            raise _large(path)
    return bytes(data)


def _large(path: str | os.PathLike[str]) -> Unreadable:
    return Unreadable(message("file.large", path=path, limit=_limit(path) // 1_000_000))


def _unreadable(path: str | os.PathLike[str], error: Exception) -> Unreadable:
    if isinstance(error, FileNotFoundError):
        # A link that leads nowhere is there, and what it leads to is not.
        return Unreadable(message("file.dangling" if os.path.islink(path) else "file.missing", path=path))
    return Unreadable(message("file.unreadable", path=path, error=getattr(error, "strerror", None) or error))


def python_files(
    path: Path, excluded: Callable[[str], bool], unreadable: Callable[[str], None], most: int | None = None
) -> Iterator[Path]:
    """The file itself, or every ``*.py`` below the folder but those of hidden, built, installed and excluded folders.
    `unreadable` is told why a folder cannot be listed. `most`: so many folders are listed at most."""
    if not os.path.isdir(path):
        yield path
        return

    def failed(error: OSError) -> None:
        unreadable(message("file.unreadable", path=error.filename, error=error.strerror or error))

    for folder, folders, names in itertools.islice(os.walk(path, onerror=failed), most):
        folders[:] = sorted(name for name in folders if not _is_skipped(os.path.join(folder, name)))
        found = (Path(folder) / name for name in sorted(names) if name.endswith(".py") and not name.startswith(_NOTES))
        yield from (file for file in found if not excluded(str(file)))


def _is_skipped(folder: str) -> bool:
    name = os.path.basename(folder)
    return name.startswith(".") or name in _SKIPPED or os.path.exists(os.path.join(folder, "pyvenv.cfg"))

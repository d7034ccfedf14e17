"""Files that commands write: replaced at once, never half written, never through a link or into a device."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from pathlib import Path

from torchsleuth.messages import message
from torchsleuth.syntax.files import encoded, read_encoded

PRIVATE = 0o600
"""Permissions of a file that its owner alone reads."""
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Unwritable(Exception):
    """A file that cannot be written; the message is one line that says why."""


def check_private(path: Path) -> None:
    """Raises Unwritable where `write_private` would, as far as that can be known before there is something to write."""
    if os.path.islink(path):
        raise Unwritable(message("file.link", path=path))
    _check(path)
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        reason = "cli.folder_closed" if path.parent.is_dir() else "cli.folder_missing"
        raise Unwritable(message("cli.cannot_write", path=path, error=message(reason)))


def write_private(path: Path, text: str) -> None:
    """A file that its owner alone reads, whatever was there before; from its first byte on. Raises Unwritable."""
    write_private_bytes(path, text.encode("utf-8"))


def write_private_bytes(path: Path, data: bytes) -> None:
    """The same of what is no text. Raises Unwritable."""
    check_private(path)
    _replace(path, data, PRIVATE)


def write_text(path: Path, text: str) -> None:
    """A text, in UTF-8, with the permissions of the file that was there. Raises Unwritable."""
    target = Path(os.path.realpath(path))
    _check(target)
    _replace(target, text.encode("utf-8"), _mode_of(target))


def write_source(path: Path, text: str) -> None:
    """Another text for a Python file, in its own encoding and with its permissions. Raises Unwritable; Unreadable where it
    is gone, and UnicodeError where its encoding has no room for a character: the file is then as it was."""
    target = Path(os.path.realpath(path))
    _, encoding = read_encoded(target)
    _replace(target, encoded(target, text, encoding), _mode_of(target))


def _check(path: Path) -> None:
    """Refuse to write to what is no regular file."""
    if os.path.lexists(path) and not path.is_file():
        raise Unwritable(message("file.folder" if path.is_dir() else "cli.special", path=path))


def _mode_of(path: Path) -> int | None:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    """`mode` None: the permissions that new files get."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.torchsleuth")
    try:
        handle = os.open(temporary, _FLAGS, 0o666 if mode is None else PRIVATE)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if mode is not None and sys.platform != "win32":
                    os.fchmod(handle, mode)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise Unwritable(message("cli.cannot_write", path=path, error=error.strerror or error)) from error

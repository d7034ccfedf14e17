"""Which files a command works on, and their texts."""

from __future__ import annotations

import os
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = frozenset({"node_modules", "build", "dist", "__pycache__", "site-packages", "venv"})


class Unreadable(Exception):
    """A file that cannot be read as Python source; the message says why."""


def complain(text: str) -> None:
    """One line on standard error."""
    print(f"torchsleuth: {text}", file=sys.stderr)


def python_files(paths: list[Path]) -> Iterator[Path]:
    """The files themselves, and every ``*.py`` below the folders. Raises FileNotFoundError."""
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
                yield from (Path(folder) / name for name in sorted(names) if name.endswith(".py"))
        elif path.exists():
            yield path
        else:
            raise FileNotFoundError(path)


def read_source(path: Path) -> str:
    """The text, decoded as Python decodes it (UTF-8, or what the coding cookie says). Raises Unreadable."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(f"{path} cannot be decoded: {error}") from error
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}") from error

"""Which files a command works on, their texts, and how their paths are shown."""

from __future__ import annotations

import os
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix

_SKIPPED = frozenset({"node_modules", "build", "dist", "__pycache__", "site-packages", "venv"})


class Unreadable(Exception):
    """A file that cannot be read as Python source; the message says why."""


def complain(text: str) -> None:
    """One line on standard error."""
    print(f"torchsleuth: {text}", file=sys.stderr)


def is_script(path: Path) -> bool:
    """Whether the path is a file; says so where it is not."""
    if path.is_file():
        return True
    complain(message("cli.not_a_file" if path.is_dir() else "cli.missing", path=path))
    return False


def python_files(path: Path) -> Iterator[Path]:
    """The file itself, or every ``*.py`` below the folder but those of hidden, built and installed folders."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(folder, name)))
        yield from (Path(folder) / name for name in sorted(names) if name.endswith(".py"))


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").exists()


def read_source(path: Path) -> str:
    """The text, decoded as Python decodes it (UTF-8, or what the coding cookie says). Raises Unreadable."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(message("cli.undecodable", path=path, error=error)) from error
    except OSError as error:
        key = "cli.unreadable" if path.exists() else "cli.missing"
        raise Unreadable(message(key, path=path, error=error.strerror or error)) from error


class PathNames:
    """Paths as the user wrote them; those of other files relative to the working folder, where they lie in it."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given = {os.path.abspath(path): path for path in given}
        self._root = os.getcwd()

    def shown(self, path: str) -> str:
        absolute = os.path.abspath(path)
        if absolute in self._given:
            return self._given[absolute]
        inside = os.path.relpath(absolute, self._root)
        return path if inside.startswith(os.pardir) else inside

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        """The diagnostic with every path as shown."""
        return replace(
            diagnostic,
            path=self.shown(diagnostic.path),
            related=tuple(replace(item, path=self.shown(item.path)) for item in diagnostic.related),
            fixes=tuple(self._fix(fix) for fix in diagnostic.fixes),
        )

    def _fix(self, fix: Fix) -> Fix:
        return replace(fix, edits=tuple(replace(edit, path=self.shown(edit.path)) for edit in fix.edits))

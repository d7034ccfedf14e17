"""Which files a command works on, their texts, and how their paths are shown."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterable, Iterator
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


def python_files(path: Path, excluded: Callable[[str], bool] = lambda path: False) -> Iterator[Path]:
    """The file itself, or every ``*.py`` below the folder but those of hidden, built, installed and excluded folders."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(folder, name)))
        found = (Path(folder) / name for name in sorted(names) if name.endswith(".py"))
        yield from (file for file in found if not excluded(str(file)))


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").exists()


def read_source(path: Path) -> str:
    """The text, decoded as Python decodes it (UTF-8, or what the coding cookie says), its line ends as they are.
    Raises Unreadable."""
    try:
        with open(path, "rb") as file:
            encoding, _ = tokenize.detect_encoding(file.readline)
            file.seek(0)
            return file.read().decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(message("cli.undecodable", path=path, error=error)) from error
    except OSError as error:
        key = "cli.unreadable" if path.exists() else "cli.missing"
        raise Unreadable(message(key, path=path, error=error.strerror or error)) from error


def write_source(path: Path, text: str) -> None:
    """Replace the text of a file at once, in its own encoding. Raises OSError, or UnicodeError where it has no room for
    a character; the file is then as it was."""
    target = Path(os.path.realpath(path))
    with open(target, "rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
    data = text.encode(encoding)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


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

"""Which files a command works on, their texts, and how their paths are shown."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from torchsleuth.cli.output import complain
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax.files import Unreadable, check


def is_script(path: Path) -> bool:
    """Whether the path is a file that can be read; says why where it is not."""
    try:
        check(path)
    except Unreadable as error:
        complain(str(error))
        return False
    return True


def not_python(path: Path, text: str) -> str | None:
    """Why a text does not parse, with its line; None where it does."""
    try:
        ast.parse(text)
    except (RecursionError, MemoryError):
        return message("cli.too_deep", path=path)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        reason = getattr(error, "msg", None) or str(error)
        return message("cli.not_python", path=path, line=line, error=reason)
    return None


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

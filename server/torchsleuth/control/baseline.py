"""Baselines: known findings that are not shown again.

A finding is known by its file, its code and the text of its line without outer and repeated spaces, so that it stays
known when lines move. Of several alike in one file, as many are known as were counted.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torchsleuth.control.selection import ConfigurationError
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic
from torchsleuth.syntax.files import Unreadable, read_bytes
from torchsleuth.syntax.text import SourceText

VERSION = 1
Key = tuple[str, str, str]
"""Path from the folder of the baseline (with /), code, text of the line."""


@dataclass(frozen=True)
class Baseline:
    counts: Counter[Key]
    folder: str

    def unknown(self, diagnostics: Iterable[Diagnostic], source_of: Callable[[str], SourceText]) -> list[Diagnostic]:
        """The diagnostics that the baseline does not hold, in order."""
        left = Counter(self.counts)
        found: list[Diagnostic] = []
        for diagnostic in diagnostics:
            key = fingerprint(diagnostic, source_of, self.folder)
            if left[key] > 0:
                left[key] -= 1
            else:
                found.append(diagnostic)
        return found


def fingerprint(diagnostic: Diagnostic, source_of: Callable[[str], SourceText], folder: str) -> Key:
    absolute = os.path.abspath(diagnostic.path)
    try:
        path = os.path.relpath(absolute, folder)
    except ValueError:  # another drive
        path = absolute
    line = " ".join(source_of(diagnostic.path).line(diagnostic.start.line).split())
    return path.replace(os.sep, "/"), diagnostic.code, line


def written(diagnostics: Iterable[Diagnostic], source_of: Callable[[str], SourceText], path: str) -> str:
    """The text of a baseline file at `path` that holds these diagnostics."""
    folder = os.path.dirname(os.path.abspath(path))
    counts = Counter(fingerprint(diagnostic, source_of, folder) for diagnostic in diagnostics)
    findings = [
        {"path": key[0], "code": key[1], "line": key[2], "count": count} for key, count in sorted(counts.items())
    ]
    return json.dumps({"version": VERSION, "findings": findings}, indent=1) + "\n"


def load(path: str) -> Baseline:
    """Raises ConfigurationError for a file that cannot be read or is no baseline."""
    try:
        data = json.loads(read_bytes(path).decode("utf-8"))
        if data["version"] != VERSION:
            raise ConfigurationError(message("control.baseline", where=path, error=f"version {data['version']}"))
        counts = Counter(
            {(str(item["path"]), str(item["code"]), str(item["line"])): int(item["count"]) for item in data["findings"]}
        )
    except Unreadable as error:
        raise ConfigurationError(str(error)) from error
    except RecursionError as error:
        raise ConfigurationError(message("control.baseline", where=path, error=message("control.deep"))) from error
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise ConfigurationError(message("control.baseline", where=path, error=error)) from error
    return Baseline(counts, os.path.dirname(os.path.abspath(path)))

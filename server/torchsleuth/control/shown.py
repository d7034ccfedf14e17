"""Chooses the findings that are shown: selection, severity and suppression comments, for one file or many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from torchsleuth.control.configuration import Configuration
from torchsleuth.control.selection import selected
from torchsleuth.control.suppression import UNUSED, silence, suppressions, unused
from torchsleuth.schema import Diagnostic
from torchsleuth.syntax.text import SourceText


def shown(
    diagnostics: Iterable[Diagnostic],
    configuration_of: Callable[[str], Configuration],
    source_of: Callable[[str], SourceText],
    complete: Iterable[str] = (),
) -> list[Diagnostic]:
    """The diagnostics that are wanted, as severe as configured, in order.

    `complete`: files that were analysed to their end, in which comments that silence nothing can be reported.
    Raises ConfigurationError.
    """
    by_file: dict[str, list[Diagnostic]] = {path: [] for path in complete}
    judged = set(by_file)
    for diagnostic in diagnostics:
        by_file.setdefault(diagnostic.path, []).append(diagnostic)
    kept: list[Diagnostic] = []
    for path, found in by_file.items():
        configuration = configuration_of(path)
        comments = suppressions(source_of(path))
        wanted = [item for item in found if configuration.wants(item.code, path)]
        left = silence(wanted, comments)
        if path in judged and comments and configuration.wants(UNUSED, path):
            left += unused(source_of(path), comments, selected(configuration.layers))
        kept += [replace(item, severity=configuration.severity(item.code, item.severity)) for item in left]
    return sorted(kept, key=lambda item: (item.path, item.start, item.code))

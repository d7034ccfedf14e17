"""Which findings the editor shows: the pyproject.toml above each document, the editor's settings over it, comments.

Only findings of the analysis are chosen here. What a run has seen has happened, and is shown.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types

from torchsleuth.lsp.client import Client
from torchsleuth.lsp.settings import Settings
from torchsleuth.schema import Diagnostic, FileAnalysis
from torchsleuth.syntax.text import SourceText

if TYPE_CHECKING:
    from torchsleuth.control.configuration import Configuration, Configurations
    from torchsleuth.control.selection import Layer

logger = logging.getLogger(__name__)


class Control:
    """Configurations as they are now. What is wrong with one is said once; the others, or none, count then."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._configurations: dict[tuple[object, ...], Configurations] = {}
        """By the settings that they are made of."""
        self._said: set[str] = set()

    def reset(self) -> None:
        """A setting or a file has changed: read everything again."""
        self._configurations.clear()
        self._said.clear()

    async def prepare(self) -> None:
        """Import what is needed, a third of a second the first time, without keeping the editor waiting."""
        await asyncio.to_thread(importlib.import_module, "torchsleuth.control.shown")

    def codes(self, path: str) -> tuple[str, ...] | None:
        """The rules to ask about a document, None for those that are on by default."""
        return self._of(path).codes()

    def excludes(self, path: str) -> bool:
        return self._of(path).excludes(path)

    def shown(self, analysis: FileAnalysis) -> list[Diagnostic]:
        """The diagnostics of an analysis that are wanted, as severe as configured, with unused comments."""
        return self.wanted(analysis.diagnostics, () if analysis.stats.get("incomplete") else (analysis.path,))

    def wanted(self, found: Iterable[Diagnostic], complete: Iterable[str] = ()) -> list[Diagnostic]:
        """The same of any findings. `complete`: files in which comments are told that silence nothing."""
        from torchsleuth.control.shown import shown

        return shown(found, self._of, self._source, complete)

    def _source(self, path: str) -> SourceText:
        return self._client.documents.source(path)

    def _of(self, path: str) -> Configuration:
        from torchsleuth.control.configuration import Configuration
        from torchsleuth.control.selection import ConfigurationError

        settings = self._client.settings_of(path)
        configurations = self._configurations.get(settings.chosen)
        if configurations is None:
            configurations = self._configurations[settings.chosen] = self._read(settings)
        try:
            return configurations.of(path)
        except ConfigurationError as error:
            self._complain(str(error))
            return Configuration()

    def _read(self, settings: Settings) -> Configurations:
        from torchsleuth.control.configuration import Configurations
        from torchsleuth.control.selection import ConfigurationError

        try:
            return Configurations(_layer(settings), settings.exclude, settings.configuration)
        except ConfigurationError as error:
            self._complain(str(error))
            return Configurations()

    def _complain(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            logger.error("%s", text)
            self._client.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))


def _layer(settings: Settings) -> Layer:
    """Raises ConfigurationError."""
    from torchsleuth.control.configuration import selectors, severities
    from torchsleuth.control.selection import Layer

    return Layer(
        None if settings.select is None else selectors(settings.select, "torchsleuth.select"),
        selectors(settings.extend_select, "torchsleuth.extendSelect"),
        selectors(settings.ignore, "torchsleuth.ignore"),
        severities(dict(settings.severity), "torchsleuth.severity"),
    )

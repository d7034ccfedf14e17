"""The session with one client: its services, and its settings as they change."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from torchsleuth.lsp.analysis import StaticAnalysis
from torchsleuth.lsp.client import Client
from torchsleuth.lsp.control import Control
from torchsleuth.lsp.diagnostics import Publisher
from torchsleuth.lsp.documents import path_of
from torchsleuth.lsp.protocol import SECTION
from torchsleuth.lsp.runs import Runs
from torchsleuth.lsp.settings import Settings

logger = logging.getLogger("torchsleuth")


class TorchSleuthServer(Client):
    """The services for one client, which the features call, and what connects them when settings change."""

    def __init__(self) -> None:
        publisher = Publisher(self)
        super().__init__(publisher.publish, publisher.mark)
        self._initial = Settings()
        self._asking: asyncio.Task[None] | None = None
        self.control = Control(self)
        self.analysis = StaticAnalysis(self, self.control)
        self.runs = Runs(self, self.analysis.request_all, self.analysis.of_files, self.control.wanted)

    def initialize(self, values: Any) -> None:
        """Start with the settings that the client gave when it started the server."""
        self.settings = self._initial = Settings().updated(values)
        _set_log_level(self.settings)

    def configure(self, values: Any) -> None:
        """Take over what the client says of all files, and ask it about each folder, where it answers that."""
        self._initial = self._initial.updated(values)
        if self.asks_for_settings:
            self.ask_for_settings()
        else:
            self._take_over(self._initial, {})

    def ask_for_settings(self) -> None:
        """Ask for the settings of now, and take them over when they come."""
        if self._asking is not None:
            self._asking.cancel()
        self._asking = asyncio.get_running_loop().create_task(self._ask_for_settings())

    async def configured(self) -> None:
        """Until the settings that were asked for are here."""
        while self._asking is not None and not self._asking.done():
            await asyncio.wait([self._asking])

    async def _ask_for_settings(self) -> None:
        folders = {path_of(uri): uri for uri in self.workspace.folders}
        scopes = [None, *folders.values()]
        items = [types.ConfigurationItem(scope_uri=scope, section=SECTION) for scope in scopes]
        try:
            # Whoever stops waiting leaves the question alone: its answer comes all the same.
            asked = self.workspace_configuration_async(types.ConfigurationParams(items))
            values = await asyncio.shield(asked)
        except JsonRpcException as error:
            logger.warning("the client does not say its settings: %s", error)
            return
        logger.info("settings of %s and of other files: %s", ", ".join(folders), values)
        general, *others = (self._initial.updated(value) for value in values)
        self._take_over(general, dict(zip(folders, others)))

    def _take_over(self, general: Settings, of_folders: dict[str, Settings]) -> None:
        """Start again with changed settings, where that matters."""
        before = [self.settings, *self.settings_of_folders.values()]
        folders = {*self.settings_of_folders, *of_folders}
        chosen = [self.settings.chosen, *(self.settings_of(folder).chosen for folder in folders)]
        paths = [document.path for document in self.documents]
        interpreters = [self.settings_of(path).interpreter for path in (*paths, *self.roots()[:1])]
        self.settings, self.settings_of_folders = general, of_folders
        after = [self.settings, *of_folders.values()]
        _set_log_level(self.settings)
        if before[0].trusted != general.trusted:
            self.refresh_lenses()  # what may be run now is offered, what may not is not
        if chosen != [general.chosen, *(self.settings_of(folder).chosen for folder in folders)]:
            self.control.reset()
            self.analysis.request_all()
        same = interpreters == [self.settings_of(path).interpreter for path in (*paths, *self.roots()[:1])]
        if before[0].trusted != general.trusted or not same:
            if not general.trusted:
                self.runs.stop()
            self.analysis.start()
        if [item.inlay_hints for item in before] != [item.inlay_hints for item in after]:
            self.refresh_hints()
        if {item.contracts for item in before} != {item.contracts for item in after}:
            self.analysis.contracts.clear()
            for path in paths:
                self.analysis.contracts.request(path)
            self.refresh_hints()
            self.refresh_lenses()
        if {item.contract_lenses for item in before} != {item.contract_lenses for item in after}:
            self.refresh_lenses()

    def close(self) -> None:
        """End every process that was started."""
        if self._asking is not None:
            self._asking.cancel()
        self.runs.kill()
        self.analysis.close()


def _set_log_level(settings: Settings) -> None:
    # Not pygls's own logger: at INFO it writes every message with its whole payload.
    logger.setLevel(logging.INFO if settings.trace == "verbose" else logging.WARNING)

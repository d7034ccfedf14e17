"""The state of one client: its settings, its documents, what was found in them, and what it can do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter, lsp_method

from torchsleuth import __version__
from torchsleuth.lsp.documents import Documents, path_of
from torchsleuth.lsp.requests import AnsweringProtocol
from torchsleuth.lsp.settings import Settings
from torchsleuth.lsp.store import ResultStore

logger = logging.getLogger("torchsleuth")

WATCHED = ("**/*.py", "**/pyproject.toml")
"""Files whose changes on disk matter to documents that are open."""


class TorchSleuthProtocol(AnsweringProtocol):
    """pygls, but for one thing that it does differently."""

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """It fails if a command is still being executed: cancelling that one changes what it iterates over."""
        mine = self.msg_id
        for number, future in list(self._request_futures.items()):
            if number != mine and not future.done():
                future.cancel()
        yield from super().lsp_shutdown(*args)


class Client(LanguageServer):
    """The state that all features share. Everything here lives on the event loop."""

    def __init__(self, publish: Callable[[str], None], mark: Callable[[str], None]) -> None:
        """`publish` is told of each file whose results have changed, `mark` of those where only what a run left beside the lines
        has."""
        super().__init__(
            "torchsleuth", __version__, protocol_cls=TorchSleuthProtocol, converter_factory=default_converter
        )
        self.settings = Settings()
        """Those of files outside of the workspace folders, and of all where a client says no others."""
        self.settings_of_folders: dict[str, Settings] = {}
        self.documents = Documents()
        self.store = ResultStore(publish, mark)

    def settings_of(self, path: str) -> Settings:
        """The settings of the folder that a file is in."""
        folders = [folder for folder in self.settings_of_folders if Path(path).is_relative_to(folder)]
        return self.settings_of_folders[max(folders, key=len)] if folders else self.settings

    def use_interpreter(self, interpreter: str) -> None:
        """One interpreter for all files, whatever is configured, until the settings change."""
        self.settings = replace(self.settings, interpreter=interpreter)
        self.settings_of_folders = {
            folder: replace(settings, interpreter=interpreter) for folder, settings in self.settings_of_folders.items()
        }

    @property
    def asks_for_settings(self) -> bool:
        """Whether the client answers ``workspace/configuration``."""
        workspace = self.client_capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

    def watch_files(self) -> None:
        """Have the client say when files change that an analysis may have read."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("torchsleuth-files", method, options)
        self.client_register_capability(types.RegistrationParams([registration]))

    def roots(self) -> tuple[str, ...]:
        """Paths of the workspace folders."""
        return tuple(path_of(folder.uri) for folder in self.workspace.folders.values())

    def refresh_hints(self) -> None:
        """Ask the client to ask again for inlay hints."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def refresh_lenses(self) -> None:
        """Ask the client to ask again for code lenses."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Into the log; a popup for each exception helps nobody."""
        logger.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)

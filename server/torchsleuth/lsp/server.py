"""The server: the state of one client, and the life of the process. It never imports torch."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter, lsp_method

from torchsleuth import __version__
from torchsleuth.lsp import code_actions, code_lens, commands, diagnostics, hover, inlay_hints, synchronization
from torchsleuth.lsp.analysis import StaticAnalysis
from torchsleuth.lsp.control import Control
from torchsleuth.lsp.documents import Documents, path_of
from torchsleuth.lsp.protocol import SECTION
from torchsleuth.lsp.requests import AnsweringProtocol
from torchsleuth.lsp.runs import Runs
from torchsleuth.lsp.settings import Settings
from torchsleuth.lsp.store import ResultStore
from torchsleuth.syntax.text import Encoding

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


class TorchSleuthServer(LanguageServer):
    """The state kept for one client. Everything here lives on the event loop."""

    def __init__(self) -> None:
        super().__init__(
            "torchsleuth", __version__, protocol_cls=TorchSleuthProtocol, converter_factory=default_converter
        )
        self.settings = Settings()
        """Those of files outside of the workspace folders, and of all where a client says no others."""
        self._initial = Settings()
        self._of_folders: dict[str, Settings] = {}
        self._asking: asyncio.Task[None] | None = None
        self.documents = Documents()
        self.store = ResultStore(diagnostics.Publisher(self).publish)
        self.control = Control(self)
        self.analysis = StaticAnalysis(self)
        self.runs = Runs(self)

    def settings_of(self, path: str) -> Settings:
        """The settings of the folder that a file is in."""
        folders = [folder for folder in self._of_folders if Path(path).is_relative_to(folder)]
        return self._of_folders[max(folders, key=len)] if folders else self.settings

    def configure(self, values: Any) -> None:
        """Take over what the client says of all files, and ask it about each folder, where it answers that."""
        self._initial = self._initial.updated(values)
        if self.asks_for_settings:
            self.ask_for_settings()
        else:
            self._take_over(self._initial, {})

    def use_interpreter(self, interpreter: str) -> None:
        """One interpreter for all files, whatever is configured, until the settings change."""
        self.settings = replace(self.settings, interpreter=interpreter)
        self._of_folders = {
            folder: replace(settings, interpreter=interpreter) for folder, settings in self._of_folders.items()
        }

    @property
    def asks_for_settings(self) -> bool:
        """Whether the client answers ``workspace/configuration``."""
        workspace = self.client_capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

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
        before = [self.settings, *self._of_folders.values()]
        paths = [document.path for document in self.documents]
        interpreters = [self.settings_of(path).interpreter for path in (*paths, *self.roots()[:1])]
        self.settings, self._of_folders = general, of_folders
        after = [self.settings, *of_folders.values()]
        _set_log_level(self.settings)
        if before[0].trusted != general.trusted:
            self.refresh_lenses()  # what may be run now is offered, what may not is not
        if {item.chosen for item in before} != {item.chosen for item in after} or len(before) != len(after):
            self.control.reset()
            self.analysis.request_all()
        same = interpreters == [self.settings_of(path).interpreter for path in (*paths, *self.roots()[:1])]
        if before[0].trusted != general.trusted or not same:
            if not general.trusted:
                self.runs.stop()
            self.analysis.start()
        if [item.inlay_hints for item in before] != [item.inlay_hints for item in after]:
            self.refresh_hints()

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

    def close(self) -> None:
        """End every process that was started."""
        if self._asking is not None:
            self._asking.cancel()
        self.runs.kill()
        self.analysis.close()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Into the log; a popup for each exception helps nobody."""
        logger.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)


def create_server() -> TorchSleuthServer:
    """A server with every feature registered."""
    server = TorchSleuthServer()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.settings = server._initial = Settings().updated(params.initialization_options)
        # Of those that the client offers, in its order, the first one that is known.
        chosen = server.workspace.position_encoding
        server.documents.encoding = next((known for known in get_args(Encoding) if known == chosen), "utf-16")
        # pygls would apply each change to a copy of its own first, and shifts positions that its lines do not have.
        server.workspace.update_text_document = lambda *change: None  # type: ignore[method-assign]
        _set_log_level(server.settings)
        server.analysis.start()  # PyTorch takes seconds: by then, the client has opened its documents

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.analysis.greet()
        server.watch_files()
        if server.asks_for_settings:
            server.ask_for_settings()

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.close()

    for feature in (synchronization, hover, inlay_hints, code_actions, code_lens, commands):
        feature.register(server)
    return server


def main() -> None:
    """Serve. Standard output is the wire: everything else that prints goes to standard error."""
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
    server = create_server()

    def terminated(number: int, frame: object) -> None:
        # A thread is blocked reading standard input, so that no orderly end is possible.
        server.close()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, terminated)
    try:
        server.start_io(sys.stdin.buffer, wire)
    finally:
        server.close()


def _set_log_level(settings: Settings) -> None:
    # Not pygls's own logger: at INFO it writes every message with its whole payload.
    logger.setLevel(logging.INFO if settings.trace == "verbose" else logging.WARNING)


if __name__ == "__main__":
    main()

"""The server: the state of one client, and the life of the process. It never imports torch."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Generator
from typing import Any, get_args

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter, lsp_method

from torchsleuth import __version__
from torchsleuth.lsp import code_actions, code_lens, commands, diagnostics, hover, inlay_hints, synchronization
from torchsleuth.lsp.analysis import StaticAnalysis
from torchsleuth.lsp.control import Control
from torchsleuth.lsp.documents import Documents, path_of
from torchsleuth.lsp.requests import AnsweringProtocol
from torchsleuth.lsp.runs import Runs
from torchsleuth.lsp.settings import Settings
from torchsleuth.lsp.store import ResultStore
from torchsleuth.syntax.text import Encoding

logger = logging.getLogger("torchsleuth")


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
    """What is known about one client. Everything here lives on the event loop."""

    def __init__(self) -> None:
        super().__init__(
            "torchsleuth", __version__, protocol_cls=TorchSleuthProtocol, converter_factory=default_converter
        )
        self.settings = Settings()
        self.documents = Documents()
        self.store = ResultStore(diagnostics.Publisher(self).publish)
        self.control = Control(self)
        self.analysis = StaticAnalysis(self)
        self.runs = Runs(self)

    def configure(self, values: Any) -> None:
        """Take over changed settings, and start again with them where that matters."""
        before, self.settings = self.settings, self.settings.updated(values)
        _set_log_level(self.settings)
        if (before.interpreter, before.trusted) != (self.settings.interpreter, self.settings.trusted):
            if not self.settings.trusted:
                self.runs.stop()
            self.analysis.restart()
        if before.trusted != self.settings.trusted:
            self.refresh_lenses()  # what may be run now is offered, what may not is not
        if before.chosen != self.settings.chosen:
            self.control.reset()
            self.analysis.request_all()
        if before.inlay_hints != self.settings.inlay_hints:
            self.refresh_hints()

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
        server.settings = server.settings.updated(params.initialization_options)
        # Of those that the client offers, in its order, the first one that is known.
        chosen = server.workspace.position_encoding
        server.documents.encoding = next((known for known in get_args(Encoding) if known == chosen), "utf-16")
        # pygls would apply each change to a copy of its own first, and shifts positions that its lines do not have.
        server.workspace.update_text_document = lambda *change: None  # type: ignore[method-assign]
        _set_log_level(server.settings)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.analysis.restart()

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

"""The server: registers the features on one session and serves on a private copy of standard output."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from torchsleuth import __version__
from torchsleuth.lsp import code_actions, code_lens, hover, inlay_hints, protocol, runs
from torchsleuth.lsp.session import Session

logger = logging.getLogger("torchsleuth")


class TorchSleuthServer(LanguageServer):
    """A language server with one session; errors in handlers are logged, not shown."""

    def __init__(self) -> None:
        super().__init__("torchsleuth", __version__)
        self.session = Session(self)

    def report_server_error(self, error: Exception, source: Any) -> None:
        logger.error("in a handler (%s)", source, exc_info=error)


def create_server() -> TorchSleuthServer:
    """A server with every feature registered."""
    server = TorchSleuthServer()
    session = server.session
    _register_lifecycle(server, session)
    _register_documents(server, session)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _hover(params: types.HoverParams) -> types.Hover | None:
        return hover.hover(session, params)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def _inlay_hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        return inlay_hints.inlay_hints(session, params)

    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix], resolve_provider=False)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    def _code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return code_actions.code_actions(session, params)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def _code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        return code_lens.code_lenses(session, params)

    _register_commands(server, session)
    return server


def _register_lifecycle(server: TorchSleuthServer, session: Session) -> None:
    @server.feature(types.INITIALIZE)
    def _initialize(params: types.InitializeParams) -> None:
        session.configure(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def _initialized(params: types.InitializedParams) -> None:
        session.start_worker()

    @server.feature(types.SHUTDOWN)
    def _shutdown(params: None) -> None:
        session.close()


def _register_documents(server: TorchSleuthServer, session: Session) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def _open(params: types.DidOpenTextDocumentParams) -> None:
        session.remember(params.text_document.uri)
        session.schedule(params.text_document.uri, delay=0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def _change(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        snapshot = session.remember(uri)
        ran = session.run_texts.get(snapshot.path)
        if ran is not None and session.store.expire(snapshot.path, ran, snapshot.source):
            session.publish({snapshot.path})
        session.schedule(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def _close(params: types.DidCloseTextDocumentParams) -> None:
        session.forget(params.text_document.uri)


def _register_commands(server: TorchSleuthServer, session: Session) -> None:
    @server.command(protocol.RUN_AND_DIAGNOSE)
    async def _run(uri: str) -> dict[str, object]:
        return await runs.run_and_diagnose(session, uri)

    @server.command(protocol.STOP_RUN)
    def _stop() -> None:
        runs.stop(session)

    @server.command(protocol.CLEAR_RESULTS)
    def _clear() -> None:
        runs.clear(session)

    @server.command(protocol.RESTART_WORKER)
    async def _restart(interpreter: str | None = None) -> None:
        session.restart_worker(interpreter)

    @server.feature(protocol.RUN_INPUT)
    def _input(params: Any) -> None:
        if session.run is not None:
            session.run.send_input(params.text)


def main() -> None:
    """Serve. Standard output is the wire: everything else that prints goes to standard error."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    server = create_server()
    try:
        server.start_io(sys.stdin.buffer, wire)
    finally:
        server.session.close()


if __name__ == "__main__":
    main()

"""The language server: its features, and the life of the process. It never imports torch."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import get_args

from lsprotocol import types

from torchsleuth.lsp import code_actions, code_lens, commands, hover, inlay_hints, marks, synchronization
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.syntax.text import Encoding


def create_server() -> TorchSleuthServer:
    """A server with every feature registered."""
    server = TorchSleuthServer()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.initialize(params.initialization_options)
        # Of those that the client offers, in its order, the first one that is known.
        chosen = server.workspace.position_encoding
        server.documents.encoding = next((known for known in get_args(Encoding) if known == chosen), "utf-16")
        # pygls would apply each change to a copy of its own first, and shifts positions that its lines do not have.
        server.workspace.update_text_document = lambda *change: None  # type: ignore[method-assign]
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

    for feature in (synchronization, hover, inlay_hints, code_actions, code_lens, commands, marks):
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


if __name__ == "__main__":
    main()

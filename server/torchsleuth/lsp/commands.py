"""The server's commands, and what a client sends to the script that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchsleuth.lsp import protocol
from torchsleuth.schema import Json

if TYPE_CHECKING:
    from torchsleuth.lsp.server import TorchSleuthServer


def register(server: TorchSleuthServer) -> None:
    @server.command(protocol.RUN_AND_DIAGNOSE)
    async def run_and_diagnose(*arguments: Any) -> Json:
        uri = str(arguments[0]) if arguments else ""
        await server.configured()  # trust may just have been given
        options = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], dict) else {}
        script_arguments = tuple(str(value) for value in options.get("args") or ())
        return await server.runs.run(uri, script_arguments, options.get("cwd"))

    @server.command(protocol.STOP_RUN)
    async def stop_run(*arguments: Any) -> bool:
        return server.runs.stop()

    @server.command(protocol.CLEAR_RESULTS)
    async def clear_results(*arguments: Any) -> None:
        server.runs.clear(str(arguments[0]) if arguments and arguments[0] else None)

    @server.command(protocol.RESTART_WORKER)
    async def restart_worker(*arguments: Any) -> None:
        if arguments and arguments[0]:
            server.use_interpreter(str(arguments[0]))
        server.analysis.restart()

    @server.feature(protocol.RUN_INPUT)
    def run_input(params: Any) -> None:
        server.runs.send_input(str(params.text))

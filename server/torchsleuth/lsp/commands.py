"""The server's commands, and what a client sends to the script that runs."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from torchsleuth.lsp import protocol
from torchsleuth.lsp.requests import wrong
from torchsleuth.lsp.runs import RunOptions
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.schema import Json
from torchsleuth.sifting import as_kind


def register(server: TorchSleuthServer) -> None:
    @server.command(protocol.RUN_AND_DIAGNOSE)
    async def run_and_diagnose(*arguments: Any) -> Json:
        uri, options = _what_to_run(arguments)
        await server.configured()  # trust may just have been given
        result = await server.runs.run(uri, options)
        if server.settings.run_command is None:
            # The client has no place of its own to show how it went.
            fine = result["ok"] and result["exitCode"] == 0
            kind = types.MessageType.Info if fine else types.MessageType.Warning
            server.window_show_message(types.ShowMessageParams(kind, result["summary"]))
        return result

    @server.command(protocol.PROBE)
    async def probe(*arguments: Any) -> Json:
        if len(arguments) < 2 or not isinstance(arguments[1], str):
            raise wrong("[uri, kind, options?]")
        uri, options = _what_to_run((arguments[0], *arguments[2:]))
        await server.configured()
        return await server.runs.probe(uri, arguments[1], options)

    @server.command(protocol.REPORT)
    async def report(*arguments: Any) -> Json | None:
        return server.runs.page()

    @server.command(protocol.STOP_RUN)
    async def stop_run(*arguments: Any) -> bool:
        return server.runs.stop()

    @server.command(protocol.CLEAR_RESULTS)
    async def clear_results(*arguments: Any) -> None:
        server.runs.clear(_text(arguments, "[uri?]"))

    @server.command(protocol.RESTART_WORKER)
    async def restart_worker(*arguments: Any) -> None:
        interpreter = _text(arguments, "[interpreter or null]")
        if interpreter:
            server.use_interpreter(interpreter)
        server.analysis.restart()

    @server.feature(protocol.RUN_INPUT)
    def run_input(params: Any) -> None:
        text = as_kind(getattr(params, "text", None), str)
        if text is None:
            raise wrong("{text: string}")
        server.runs.send_input(text)


def _what_to_run(arguments: tuple[Any, ...]) -> tuple[str, RunOptions]:
    """The script, and how it is to be run. Raises JsonRpcInvalidParams."""
    uri, options = (*arguments, *("", None)[len(arguments) :]) if len(arguments) <= 2 else (None, None)
    try:
        if isinstance(uri, str):
            return uri, RunOptions.of({} if options is None else options)
    except ValueError as error:
        raise wrong(str(error)) from None
    raise wrong("[uri, options?]")


def _text(arguments: tuple[Any, ...], wanted: str) -> str | None:
    """The only argument, a text that may be missing. Raises JsonRpcInvalidParams."""
    text = arguments[0] if arguments else None
    if len(arguments) > 1 or not isinstance(text, str | None):
        raise wrong(wanted)
    return text or None

"""Requests that cannot be understood are answered, each with an error; the server goes on."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lsp.conftest import COMMAND
from tests.lsp.editor import SERVER

INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND = -32602, -32600, -32601


class Raw:
    """A client that sends whatever it is told to."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": SERVER}
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )

    def send(self, message: Any) -> None:
        assert self.process.stdin is not None
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        stream, length = self.process.stdout, 0
        assert stream is not None
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(stream.read(length))

    def answer(self, number: int | str) -> dict[str, Any]:
        while (said := self.receive()).get("id") != number or "method" in said:
            pass
        return said

    def ask(self, number: int | str, method: str, **more: Any) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, **more})
        return self.answer(number)


@pytest.fixture(scope="module")
def raw() -> Iterator[Raw]:
    client = Raw()
    options = {"trusted": False}
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    assert "result" in client.ask("first", "initialize", params=params)
    client.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    yield client
    client.ask("last", "shutdown")
    client.send({"jsonrpc": "2.0", "method": "exit"})
    assert client.process.stdin is not None and client.process.stdout is not None
    client.process.stdin.close()
    assert client.process.wait() == 0
    client.process.stdout.close()


METHODS = [
    "textDocument/hover",
    "textDocument/inlayHint",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "workspace/executeCommand",
]
BAD = [
    {},
    [],
    3,
    "text",
    {"textDocument": 3},
    {"textDocument": {}, "position": {"line": "x"}},
    {"command": 3},
]


@pytest.mark.parametrize("params", BAD, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_parameters_of_another_kind_get_an_error(raw: Raw, method: str, params: object) -> None:
    found = raw.ask(f"{method} {params}", method, params=params)
    assert found["error"]["code"] == INVALID_PARAMS and "result" not in found


@pytest.mark.parametrize("method", METHODS)
def test_missing_parameters_get_an_error(raw: Raw, method: str) -> None:
    assert raw.ask(f"no {method}", method)["error"]["code"] == INVALID_PARAMS


COMMANDS: list[tuple[str, list[Any]]] = [
    ("runAndDiagnose", [3]),
    ("runAndDiagnose", [None]),
    ("runAndDiagnose", ["file:///a.py", "--epochs 3"]),
    ("runAndDiagnose", ["file:///a.py", {"args": "--name 'x"}]),
    ("runAndDiagnose", ["file:///a.py", {"env": {"A": 1}}]),
    ("runAndDiagnose", ["file:///a.py", {"module": 1}]),
    ("runAndDiagnose", ["file:///a.py", {"args": [3]}]),
    ("runAndDiagnose", ["file:///a.py", {"cwd": 3}]),
    ("runAndDiagnose", ["file:///a.py", {}, 3]),
    ("clearResults", [3]),
    ("clearResults", ["file:///a.py", 3]),
    ("restartWorker", [{"python": "x"}]),
    ("noSuchCommand", []),
]


@pytest.mark.parametrize(("command", "arguments"), COMMANDS, ids=str)
def test_a_command_with_other_arguments_gets_an_error(raw: Raw, command: str, arguments: list[Any]) -> None:
    params = {"command": f"torchsleuth.server.{command}", "arguments": arguments}
    found = raw.ask(f"{command} {arguments}", "workspace/executeCommand", params=params)
    assert found["error"]["code"] == INVALID_PARAMS and found["error"]["message"]


def test_arguments_that_are_no_list_get_an_error(raw: Raw) -> None:
    params = {"command": "torchsleuth.server.stopRun", "arguments": 3}
    assert raw.ask("no list", "workspace/executeCommand", params=params)["error"]["code"] == INVALID_PARAMS


def test_input_for_a_run_that_is_no_text_gets_an_error(raw: Raw) -> None:
    for number, params in enumerate(({}, {"text": 3})):
        assert "error" in raw.ask(f"input {number}", "torchsleuth/runInput", params=params)


def test_an_unknown_method_gets_an_error(raw: Raw) -> None:
    assert raw.ask("unknown", "textDocument/brew", params={})["error"]["code"] == NOT_FOUND


def test_what_is_no_message_and_notifications_that_are_wrong_change_nothing(raw: Raw) -> None:
    for message in ([], 3, "text", None, {}, {"jsonrpc": "2.0"}, {"jsonrpc": "1.0", "method": 3}):
        raw.send(message)
    for method in ("textDocument/didOpen", "textDocument/didChange", "torchsleuth/runInput", "$/cancelRequest"):
        raw.send({"jsonrpc": "2.0", "method": method, "params": {"textDocument": 3}})
    raw.send({"id": "old", "method": "textDocument/hover", "params": {}})
    assert raw.answer("old")["error"]["code"] == INVALID_REQUEST
    params = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}}
    assert raw.ask("fine", "textDocument/hover", params=params)["result"] is None


def test_a_place_outside_of_the_document_is_answered(raw: Raw) -> None:
    uri = "file:///outside.py"
    item = {"uri": uri, "languageId": "python", "version": 1, "text": "import torch\n"}
    raw.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
    for line, character in ((99, 0), (0, 999), (2**31 - 1, 2**31 - 1)):
        place = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": place}
        assert raw.ask(f"{line} {character}", "textDocument/hover", params=params)["result"] is None
    params = {"textDocument": {"uri": uri}, "position": {"line": -1, "character": 0}}
    assert raw.ask("negative", "textDocument/hover", params=params)["error"]["code"] == INVALID_PARAMS

"""The protocol, against the real server and the real engine."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

LINEAR = """import torch
from torch import nn

# 😋 中文
fc = nn.Linear(8192, 10)
x = torch.randn(64, 16384)
"😋", fc(x)
"""


def make_client() -> LanguageClient:
    client = make_test_lsp_client()
    client.states = asyncio.Queue()
    client.output = []

    @client.feature("torchsleuth/status")
    def _status(params):
        client.states.put_nowait((params.state, params.detail))

    @client.feature("torchsleuth/runOutput")
    def _output(params):
        client.output.append(params.text)

    @client.feature("torchsleuth/runFinished")
    def _finished(params):
        pass

    return client


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[sys.executable, "-m", "torchsleuth.lsp"], client_factory=make_client)
)
async def client(lsp_client: LanguageClient, tmp_path: Path):
    params = types.InitializeParams(
        capabilities=client_capabilities("visual-studio-code"),
        workspace_folders=[types.WorkspaceFolder(uri=tmp_path.as_uri(), name="work")],
        initialization_options={"interpreter": sys.executable},
    )
    await lsp_client.initialize_session(params)
    lsp_client.folder = tmp_path
    yield
    await lsp_client.shutdown_session()


def open_document(client: LanguageClient, name: str, text: str) -> str:
    path = client.folder / name
    path.write_text(text)
    uri = path.as_uri()
    item = types.TextDocumentItem(uri, "python", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return uri


def change(client: LanguageClient, uri: str, version: int, text: str) -> None:
    whole = types.TextDocumentContentChangeWholeDocument(text)
    document = types.VersionedTextDocumentIdentifier(version, uri)
    client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))


async def diagnostics(client: LanguageClient) -> None:
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)


async def wait_state(client: LanguageClient, wanted: str) -> str:
    while True:
        state, detail = await asyncio.wait_for(client.states.get(), 120)
        if state == wanted:
            return detail


async def test_diagnostic_with_utf16_positions_and_fix(client: LanguageClient) -> None:
    uri = open_document(client, "train.py", LINEAR)
    await diagnostics(client)
    (found,) = client.diagnostics[uri]
    assert found.code == "TS101" and found.source == "TorchSleuth"
    assert (found.range.start.line, found.range.start.character) == (6, 6)
    assert found.code_description is not None and "TS101" in found.code_description.href
    assert any("in_features=8192" in item.message for item in found.related_information)
    context = types.CodeActionContext([found])
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(types.TextDocumentIdentifier(uri), found.range, context)
    )
    assert actions[0].is_preferred
    (edit,) = actions[0].edit.document_changes[0].edits
    assert edit.new_text == "16384"
    change(client, uri, 2, LINEAR.replace("8192", edit.new_text))
    await diagnostics(client)
    assert list(client.diagnostics[uri]) == []


async def test_hover_hints_and_lens(client: LanguageClient) -> None:
    text = 'import torch\n名 = "😋"; x = torch.randn(4, 8)\nif __name__ == "__main__":\n    print(x)\n'
    uri = open_document(client, "hints.py", text)
    await diagnostics(client)
    document = types.TextDocumentIdentifier(uri)
    hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(1, 10)))
    assert "[4, 8]" in hover.contents.value and "float32" in hover.contents.value
    everything = types.Range(types.Position(0, 0), types.Position(10, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, everything))
    assert [(hint.label, hint.position.line, hint.position.character) for hint in hints] == [
        (": [4, 8] float32", 1, 11)
    ]
    (lens,) = await client.text_document_code_lens_async(types.CodeLensParams(document))
    assert lens.range.start.line == 2 and lens.command.command == "torchsleuth.runAndDiagnose"


async def test_broken_text_keeps_the_rest(client: LanguageClient) -> None:
    uri = open_document(client, "broken.py", LINEAR + "\ndef half(:\n    x = (\n")
    await diagnostics(client)
    assert [item.code for item in client.diagnostics[uri]] == ["TS101"]


async def test_run_maps_the_crash_and_clear_removes_it(client: LanguageClient) -> None:
    text = "import torch\nprint('hello')\nsizes = [int(s) for s in '3 4'.split()]\ntorch.mm(torch.ones(2, sizes[0]), torch.ones(sizes[1], 2))\n"
    uri = open_document(client, "crash.py", text)
    await diagnostics(client)
    command = types.ExecuteCommandParams("torchsleuth.server.runAndDiagnose", [uri])
    result = await client.workspace_execute_command_async(command)
    assert result["exitCode"] == 1
    assert "hello" in "".join(client.output)
    codes = [(item.code, item.range.start.line) for item in client.diagnostics[uri]]
    assert ("TS101", 3) in codes
    await client.workspace_execute_command_async(types.ExecuteCommandParams("torchsleuth.server.clearResults", []))
    assert all(item.code != "TS101" or "confirmed" not in item.message for item in client.diagnostics[uri])


async def test_stop_ends_a_script_that_never_ends(client: LanguageClient) -> None:
    uri = open_document(
        client, "forever.py", "import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.05)\n"
    )
    run = asyncio.ensure_future(
        client.workspace_execute_command_async(types.ExecuteCommandParams("torchsleuth.server.runAndDiagnose", [uri]))
    )
    while "started" not in "".join(client.output):
        await client.wait_for_notification("torchsleuth/runOutput")
    await client.workspace_execute_command_async(types.ExecuteCommandParams("torchsleuth.server.stopRun", []))
    result = await run
    assert result["cancelled"] is True


async def test_killed_worker_comes_back(client: LanguageClient) -> None:
    uri = open_document(client, "again.py", LINEAR)
    await diagnostics(client)
    for pid in worker_pids(client):
        os.kill(pid, signal.SIGKILL)
    change(client, uri, 2, LINEAR.replace("8192", "2048"))
    while "2048" not in client.diagnostics[uri][0].message:
        await diagnostics(client)


def worker_pids(client: LanguageClient) -> list[int]:
    """Processes of the analysis worker that belong to this test's server."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rsplit(") ", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if b"torchsleuth.worker" in command and parent == client._server.pid:
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize("interpreter", ["/nonexistent/python"])
async def test_a_broken_interpreter_is_a_status(tmp_path: Path, interpreter: str) -> None:
    client = make_client()
    await client.start_io(sys.executable, "-m", "torchsleuth.lsp")
    await client.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(), initialization_options={"interpreter": interpreter}
        )
    )
    detail = await wait_state(client, "unavailable")
    assert interpreter in detail
    await client.shutdown_session()
    await client.stop()

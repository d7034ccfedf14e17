"""Workers by interpreter, settings by folder, and what is said before PyTorch is there."""

from __future__ import annotations

import asyncio
import os
import sys
import sysconfig
import venv
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, children, gone
from torchsleuth.worker.wire import SYNTAX

Start = Callable[..., Awaitable[Editor]]
OLD = """\
import torch

q, r = torch.qr(torch.randn(3, 3))
"""


def workers(editor: Editor) -> list[int]:
    found = children(editor.server_pid).items()
    return [pid for pid, command in found if "torchsleuth.worker" in command and SYNTAX not in command]


def syntax_workers(editor: Editor) -> list[int]:
    return [pid for pid, command in children(editor.server_pid).items() if SYNTAX in command]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An environment without PyTorch."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    return tmp_path / "bare" / "bin" / "python"


@pytest.fixture
def gated(tmp_path: Path, double: str) -> tuple[str, Path]:
    """An interpreter that does not get on before somebody writes into the pipe."""
    gate, python = tmp_path / "gate", tmp_path / "python-behind-gate"
    os.mkfifo(gate)
    python.write_text(f'#!/bin/sh\ncat {gate} > /dev/null\nexec {double} "$@"\n')
    python.chmod(0o755)
    return str(python), gate


async def test_syntax_comes_first_and_gives_way_to_the_analysis(start: Start, gated: tuple[str, Path]) -> None:
    python, gate = gated
    editor = await start(interpreter=python)
    uri = editor.open("a.py", OLD)
    assert await editor.codes(uri) == ["TS802"]
    assert "importing PyTorch" in await editor.ever("starting")
    there = types.Position(2, 9)
    while len(offered := await editor.actions(uri, types.Range(there, there))) < 2:
        pass  # the fix is being verified
    assert offered[0].title == "Change torch.qr(torch.randn(3, 3)) to torch.linalg.qr(torch.randn(3, 3))"
    editor.replace(uri, "q, r = torch.qr", "pass; q, r = torch.qr")  # it follows the typing meanwhile
    (found,) = await editor.diagnostics(uri)
    assert (found.code, found.range.start.character) == ("TS802", 13)
    helpers = syntax_workers(editor)
    gate.write_text("go")
    await editor.ever("ready")
    await editor.until(lambda: [item.code for item in editor.client.published[uri].diagnostics] == ["TS000"])
    await gone(helpers)


async def test_without_pytorch_syntax_is_checked_and_the_status_says_so(start: Start, bare: Path) -> None:
    editor = await start(interpreter=str(bare))
    detail = await editor.ever("unavailable")
    assert detail.startswith("PyTorch is not installed") and detail.endswith(
        "Rules that need only syntax work meanwhile"
    )
    uri = editor.open("a.py", OLD)
    assert await editor.codes(uri) == ["TS802"]
    editor.replace(uri, "torch.qr", "torch.linalg.qr")
    assert await editor.codes(uri) == []
    editor.replace(uri, "torch.linalg.qr", "torch.qr")
    assert await editor.codes(uri) == ["TS802"]


async def test_comments_and_settings_count_without_pytorch(start: Start, bare: Path) -> None:
    editor = await start(interpreter=str(bare), severity={"TS802": "error"})
    uri = editor.open("a.py", OLD + "q, r = torch.qr(q)  # torchsleuth: ignore[TS802]\n")
    (found,) = await editor.diagnostics(uri)
    assert (found.range.start.line, found.severity) == (2, types.DiagnosticSeverity.Error)


async def test_an_untrusted_workspace_has_syntax_checked(start: Start, double: str) -> None:
    editor = await start(interpreter=double, trusted=False)
    assert await editor.codes(editor.open("a.py", OLD)) == ["TS802"]
    assert workers(editor) == []


async def test_the_server_starts_again_when_pytorch_was_installed(start: Start, bare: Path) -> None:
    editor = await start(interpreter=str(bare))
    uri = editor.open("a.py", OLD + "torch.mm(q, torch.randn(4, 5))\n")
    await editor.ever("unavailable")
    assert await editor.codes(uri) == ["TS802"]
    (site,) = (bare.parents[1] / "lib").glob("python*/site-packages")
    (site / "torch.pth").write_text(sysconfig.get_path("purelib"))
    (site / "torch-2.13.0.dist-info").mkdir()
    (site / "torch-2.13.0.dist-info" / "RECORD").touch()
    await editor.ever("ready")
    await editor.until(lambda: [item.code for item in editor.client.published[uri].diagnostics] == ["TS802", "TS101"])


async def test_each_folder_has_its_settings_and_its_interpreter(start: Start, double: str, tmp_path: Path) -> None:
    other = tmp_path / "another-python"
    other.symlink_to(double)
    folders = {name: (tmp_path / name).as_uri() for name in ("a", "b", "c")}

    async def prepare(editor: Editor) -> None:
        set_configuration = editor.client.set_configuration
        set_configuration({"interpreter": double}, section="torchsleuth")
        set_configuration({"interpreter": double}, section="torchsleuth", scope_uri=folders["a"])
        set_configuration({"interpreter": str(other)}, section="torchsleuth", scope_uri=folders["b"])
        set_configuration({"interpreter": double, "ignore": ["TS0"]}, section="torchsleuth", scope_uri=folders["c"])

    editor = await start(prepare=prepare, folders=tuple(folders), interpreter=double)
    uris = {name: editor.open(f"{name}/x.py", name) for name in folders}
    for name in ("a", "b"):
        await editor.until(lambda name=name: [item.code for item in published(editor, uris[name])] == ["TS000"])
    assert await editor.diagnostics(uris["c"]) == []
    commands = children(editor.server_pid)
    assert len(workers(editor)) == 2, commands
    before = set(workers(editor))
    editor.close(uris["b"])
    await editor.command("clearResults")
    ended = before - set(workers(editor))
    assert len(ended) <= 1
    await gone([pid for pid in before if pid not in await remaining(editor, before)])
    editor.client.set_configuration(
        {"interpreter": double, "ignore": []}, section="torchsleuth", scope_uri=folders["c"]
    )
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await editor.until(lambda: [item.code for item in published(editor, uris["c"])] == ["TS000"])
    assert set(workers(editor)) < before, "settings need no new worker"


def published(editor: Editor, uri: str) -> list[types.Diagnostic]:
    found = editor.client.published.get(uri)
    return list(found.diagnostics) if found is not None else []


async def remaining(editor: Editor, before: set[int]) -> set[int]:
    """Of two workers, the one that is left when the other has ended."""
    while len(left := before & set(workers(editor))) == 2:
        await asyncio.sleep(0)
    return left


async def test_the_last_worker_stays_when_all_documents_are_closed(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", "text")
    await editor.until(lambda: published(editor, uri))
    before = workers(editor)
    editor.close(uri)
    other = editor.open("b.py", "text")
    await editor.until(lambda: published(editor, other))
    assert workers(editor) == before


async def test_files_are_watched_where_the_client_does_that_for_servers(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    (registration,) = await editor.until(lambda: editor.client.registered)
    assert registration.method == "workspace/didChangeWatchedFiles"
    patterns = [watcher["globPattern"] for watcher in plain(registration.register_options)["watchers"]]
    assert patterns == ["**/*.py", "**/pyproject.toml"]


def plain(options: object) -> dict[str, list[dict[str, str]]]:
    from pygls.protocol import default_converter

    found: dict[str, list[dict[str, str]]] = default_converter().unstructure(options)
    return found


async def test_a_client_that_answers_is_asked_for_its_settings(start: Start, double: str) -> None:
    async def prepare(editor: Editor) -> None:
        editor.client.set_configuration({"interpreter": double}, section="torchsleuth")
        editor.client.set_configuration(
            {"interpreter": double}, section="torchsleuth", scope_uri=editor.folder.as_uri()
        )

    editor = await start(prepare=prepare, interpreter="/nonexistent/python")
    uri = editor.open("a.py", "text")
    await editor.until(lambda: [item.code for item in published(editor, uri)] == ["TS000"])
    assert sys.executable != double

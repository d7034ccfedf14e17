"""The life of the server's processes: starting, failing, restarting, ending."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import venv
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, children, gone, worker_of
from torchsleuth.lsp.server import create_server
from torchsleuth.worker.wire import SYNTAX

Start = Callable[..., Awaitable[Editor]]

FOREVER = """import signal, subprocess
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.Popen(["sleep", "1000"])
print("started", flush=True)
signal.pause()
"""


async def test_it_announces_what_it_can_do(start: Start) -> None:
    editor = await start(trusted=False)
    found = await editor.client.initialize_async(types.InitializeParams(capabilities=editor.client.capabilities))
    assert found.capabilities.position_encoding == types.PositionEncodingKind.Utf16
    commands = {
        "runAndDiagnose",
        "probe",
        "report",
        "stopRun",
        "clearResults",
        "restartWorker",
        "showFixed",
        "applyFix",
    }
    provider = found.capabilities.execute_command_provider
    assert set(provider.commands) == {f"torchsleuth.server.{name}" for name in commands}
    assert found.capabilities.code_action_provider.code_action_kinds == (
        "quickfix",
        "refactor.rewrite",
        "source.fixAll.torchsleuth",
    )


async def test_the_cancel_button_of_the_progress_of_a_run_ends_it(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("button.py", FOREVER)
    run = asyncio.ensure_future(editor.command("runAndDiagnose", uri))
    await editor.until(lambda: "started" in editor.client.output)
    processes = [
        pid for pid, command in children(editor.server_pid).items() if "sleep" in command or "button" in command
    ]
    reports = editor.client.progress_reports.items()
    (token,) = (token for token, (begin, *_) in reports if begin.title == "Running button.py")
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    assert (await run)["cancelled"] is True
    await gone(processes)
    begin, end = editor.client.progress_reports[token]
    assert begin.cancellable and end.kind == "end"


async def test_the_worker_is_there_before_the_first_document(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    assert await editor.ever("ready") == f"torch 0.0, Python {sys.version.split()[0]}"
    assert worker_name(editor)


async def test_documents_roots_and_versions_reach_the_engine(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    editor.open("other.py", "other")
    uri = editor.open("a.py", "first")
    for text in ("second", "third", "fourth"):
        editor.retype(uri, text)
    (found,) = await editor.diagnostics(uri)
    assert found.message == f"1 other documents, roots {editor.folder}: fourth"
    assert found.severity == types.DiagnosticSeverity.Information  # a "hint", so that it is seen


async def test_a_missing_workspace_works(start: Start, double: str) -> None:
    editor = await start(workspace=False, interpreter=double)
    (found,) = await editor.diagnostics(editor.open("a.py", "text"))
    assert found.message == "0 other documents, roots none: text"


async def test_a_worker_killed_in_the_middle_is_replaced_and_answers(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    note = editor.folder / "hanging"
    uri = editor.open("a.py", "fine")
    await editor.diagnostics(uri)
    first = double_worker(editor)
    busy = asyncio.ensure_future(editor.state("busy"))
    await asyncio.sleep(0)
    editor.retype(uri, f"# hang {note}")
    await busy
    ready = asyncio.ensure_future(editor.state("ready"))
    await asyncio.sleep(0)
    os.killpg(first, signal.SIGKILL)
    await ready  # by itself, without another keystroke
    assert ("restarting") in [state for state, _ in editor.client.states]
    assert double_worker(editor) != first
    editor.retype(uri, "again = 1")
    (found,) = await editor.diagnostics(uri)
    assert found.message.endswith("again = 1")
    assert editor.client.messages == []


async def test_cancelling_the_first_analysis_gives_it_up(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    await editor.ever("ready")
    uri = editor.open("a.py", "# hang")
    await editor.ever("busy")
    (token,) = editor.client.progress_reports
    ready = asyncio.ensure_future(editor.state("ready"))
    await asyncio.sleep(0)
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    await ready
    editor.retype(uri, "fine")
    assert len(await editor.diagnostics(uri)) == 1
    begin, end = editor.client.progress_reports[token]
    assert begin.title == "Analysing PyTorch code" and end.kind == "end"


async def test_an_engine_that_raises_is_logged_and_goes_on(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", "# raise")
    assert await editor.diagnostics(uri) == []
    editor.retype(uri, "fine")
    assert len(await editor.diagnostics(uri)) == 1
    assert editor.client.messages == []


@pytest.mark.parametrize("interpreter", ["/nonexistent/python", "/bin/false"])
async def test_an_interpreter_that_is_none_is_a_status(start: Start, interpreter: str) -> None:
    editor = await start(interpreter=interpreter)
    assert interpreter in await editor.ever("unavailable")
    editor.retype(editor.open("a.py", ""), "import torch")
    await editor.command("clearResults")
    assert [state for state, _ in editor.client.states if state != "starting"] == ["unavailable"]
    assert editor.client.messages == []


async def test_a_text_that_was_given_up_says_so_in_the_status(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", "# die")
    detail = await editor.until(lambda: [d for s, d in editor.client.states if s == "ready" and "a.py" in d])
    assert detail[-1].startswith("a.py is not fully analysed: ")
    editor.retype(uri, "fine")
    assert len(await editor.diagnostics(uri)) == 1
    assert editor.client.states[-1] == ("ready", f"torch 0.0, Python {sys.version.split()[0]}")


async def test_without_torch_the_server_lives_and_says_so(start: Start, tmp_path: Path, double: str) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    editor = await start(interpreter=str(tmp_path / "bare" / "bin" / "python"))
    assert "PyTorch is not installed" in await editor.ever("unavailable")
    uri = editor.open("a.py", "import torch\nprint(torch)\n")
    assert await editor.lenses(uri) == [(0, "▶ Run and Diagnose", "torchsleuth.server.runAndDiagnose")]
    assert await editor.hover(uri, 0, 8) == "" and await editor.hints(uri) == []
    await editor.command("restartWorker", double)
    assert len(await editor.diagnostics(uri)) == 1
    assert editor.client.messages == []


async def test_an_untrusted_workspace_starts_nothing_until_it_is_trusted(start: Start, double: str) -> None:
    editor = await start(interpreter=double, trusted=False)
    await editor.ever("restricted")
    uri = editor.open("a.py", "import torch\nprint(torch)\n")
    result = await editor.command("runAndDiagnose", uri)
    assert result["ok"] is False and "not trusted" in result["summary"]
    assert await editor.lenses(uri) == []
    assert not others(editor)
    settings = {"torchsleuth": {"trusted": True, "unknown": 1}}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    assert len(await editor.diagnostics(uri)) == 1
    await editor.until(lambda: editor.client.lens_refreshes == 1)
    assert await editor.lenses(uri) == [(0, "▶ Run and Diagnose", "torchsleuth.server.runAndDiagnose")]
    settings = {"torchsleuth": {"trusted": False}}
    restricted = asyncio.ensure_future(editor.state("restricted"))
    await asyncio.sleep(0)
    worker = double_worker(editor)
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    await restricted
    await gone([worker])
    await editor.until(lambda: not editor.client.published[uri].diagnostics)


async def test_an_interpreter_of_an_untrusted_workspace_is_not_started(start: Start, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {canary}\n")
    python.chmod(0o755)
    editor = await start(interpreter=str(python), trusted=False)
    await editor.ever("restricted")
    uri = editor.open("a.py", "import torch\nimport nothing.at.all\nprint(torch)\n")
    settings = {"torchsleuth": {"interpreter": str(python), "trusted": False}}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    await editor.command("restartWorker", str(python))
    assert (await editor.command("runAndDiagnose", uri))["ok"] is False
    assert await editor.hover(uri, 0, 8) == "" and await editor.hints(uri) == []
    assert not others(editor) and not canary.exists()


@pytest.mark.parametrize("options", [None, [], "text", {"interpreter": 3, "trusted": "yes", "inlayHints": None}])
async def test_odd_settings_are_ignored(start: Start, options: object) -> None:
    editor = await start(trusted=False)
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"torchsleuth": options}))
    assert await editor.lenses(editor.open("a.py", "")) == []
    assert not others(editor) and editor.client.messages == []


async def busy_server(start: Start, double: str) -> tuple[Editor, list[int]]:
    """A server in the middle of an analysis and of a run, and all processes below it."""
    editor = await start(interpreter=double)
    uri = editor.open("forever.py", FOREVER)
    await editor.diagnostics(uri)
    busy = asyncio.ensure_future(editor.state("busy"))
    await asyncio.sleep(0)
    editor.open("hanging.py", f"# hang {editor.folder / 'child'}")
    await busy
    run = asyncio.ensure_future(editor.command("runAndDiagnose", uri))
    await editor.until(lambda: "started" in editor.client.output)
    run.add_done_callback(lambda future: future.cancelled() or future.exception())
    pids = list(children(editor.server_pid))
    assert len(pids) >= 3  # the worker, the script and what it started; the worker's child as soon as there is one
    return editor, pids


async def test_shutdown_leaves_no_processes(start: Start, double: str) -> None:
    editor, pids = await busy_server(start, double)
    await editor.client.shutdown_session()
    await gone(pids)
    assert editor.client._server.returncode == 0


@pytest.mark.parametrize("end", ["terminate", "end of input"])
async def test_a_server_whose_client_is_gone_leaves_no_processes(start: Start, double: str, end: str) -> None:
    editor, pids = await busy_server(start, double)
    server = editor.client._server
    if end == "terminate":
        server.terminate()
    else:
        server.stdin.close()
    await server.wait()
    await gone(pids)


async def test_a_hanging_worker_ends_with_a_server_that_was_killed(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    note = editor.folder / "hanging"
    editor.open("a.py", f"# hang {note}")
    await editor.ever("busy")
    worker = double_worker(editor)
    editor.client._server.kill()
    await editor.client._server.wait()
    await gone([worker])


def others(editor: Editor) -> list[str]:
    """Processes that run in another Python than the server's, or do more than read syntax."""
    commands = children(editor.server_pid).values()
    return [command for command in commands if not (command.startswith(sys.executable) and SYNTAX in command)]


INDEPENDENT = """import os, subprocess
own = subprocess.Popen(["sleep", "1000"], start_new_session=True)
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writer, str(os.getpid()).encode())
        os.execvp("sleep", ["sleep", "1000"])
    os._exit(0)
os.waitpid(child, 0)
print("started", os.getpid(), own.pid, os.read(reader, 20).decode(), flush=True)
own.wait()
"""


async def independent(start: Start, double: str) -> tuple[Editor, str, asyncio.Future[object], list[int]]:
    """A script that runs, whose children have sessions of their own, one of them as a daemon; and all processes."""
    editor = await start(interpreter=double)
    uri = editor.open("independent.py", INDEPENDENT)
    await editor.diagnostics(uri)
    run = asyncio.ensure_future(editor.command("runAndDiagnose", uri))
    run.add_done_callback(lambda future: future.cancelled() or future.exception())
    await editor.until(lambda: editor.client.output.endswith("\n"))
    pids = [int(word) for word in editor.client.output.split()[1:]]
    assert len(pids) == 3 and all(os.path.exists(f"/proc/{pid}") for pid in pids)
    return editor, uri, run, [*pids, *children(editor.server_pid)]


async def test_a_script_and_all_it_started_end_with_a_server_that_is_killed(start: Start, double: str) -> None:
    editor, _, _, pids = await independent(start, double)
    editor.client._server.kill()
    await editor.client._server.wait()
    await gone(pids)


@pytest.mark.parametrize("how", ["stop", "cancel"])
async def test_a_run_that_is_stopped_ends_all_that_the_script_started(start: Start, double: str, how: str) -> None:
    editor, _, run, pids = await independent(start, double)
    worker = double_worker(editor)
    if how == "stop":
        assert await editor.command("stopRun") is True
        assert (await run)["cancelled"] is True
    else:
        (number,) = (key for key, future in editor.client.protocol._request_futures.items() if not future.done())
        editor.client.cancel_request(types.CancelParams(number))
    await gone([pid for pid in pids if pid != worker])
    assert list(children(editor.server_pid)) == [worker]


async def test_a_stopped_worker_ends_with_a_server_that_is_killed(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    await editor.ever("ready")
    worker = double_worker(editor)
    os.kill(worker, signal.SIGSTOP)
    editor.client._server.kill()
    await editor.client._server.wait()
    await gone([worker])


async def test_a_worker_that_starts_ends_with_a_server_that_is_killed(start: Start, tmp_path: Path) -> None:
    """It has not come to reading its input yet."""
    begun, interpreter = tmp_path / "begun", tmp_path / "starting"
    os.mkfifo(begun)
    code = (
        f"from torchsleuth.lifetime import end_with_parent; end_with_parent(); open({str(begun)!r}, 'w').write('yes'); "
    )
    interpreter.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}import time; time.sleep(1000)"\n')
    interpreter.chmod(0o755)
    editor = await start(interpreter=str(interpreter))
    assert await asyncio.get_running_loop().run_in_executor(None, begun.read_text) == "yes"
    pids = list(children(editor.server_pid))
    assert pids
    editor.client._server.kill()
    await editor.client._server.wait()
    await gone(pids)


async def test_the_server_keeps_nothing_of_notifications_that_were_handled() -> None:
    """Else it grows with each edit."""
    protocol = create_server().protocol
    handled: list[int] = []

    async def handle(number: int) -> None:
        handled.append(number)

    for number in range(3):
        protocol._execute_handler(str(number), handle, protocol._check_handler_result, (number,))
    assert len(protocol._request_futures) == 3
    await asyncio.gather(*protocol._request_futures.values())
    assert handled == [0, 1, 2] and not protocol._request_futures


def double_worker(editor: Editor) -> int:
    return worker_of(editor.server_pid)


def worker_name(editor: Editor) -> str:
    return children(editor.server_pid)[double_worker(editor)]

"""Nothing is lost, and nothing stays: what is on screen after faults, and after documents have changed or were closed."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.lsp.editor import Editor, worker_of

Start = Callable[..., Awaitable[Editor]]

BROKEN = "import torch\ntorch.zeros(2, 3) @ torch.zeros(2, 3)\n"


async def test_closing_takes_away_what_an_edit_has_already_moved(start: Start) -> None:
    editor = await start()
    uri = editor.open("a.py", BROKEN)
    assert len(await editor.diagnostics(uri)) == 1
    editor.replace(uri, "torch.zeros(2, 3) @ torch.zeros(2, 3)", "x = 1")
    editor.close(uri)
    await editor.until(lambda: not editor.client.published[uri].diagnostics)


async def test_closing_takes_away_what_was_found_in_other_files(start: Start) -> None:
    editor = await start()
    editor.write("layers.py", "def times(a, b):\n    return a @ b\n")
    layers = editor.open("layers.py", "def times(a, b):\n    return a @ b\n")
    text = "import torch\nfrom layers import times\ntimes(torch.zeros(2, 3), torch.zeros(2, 3))\n"
    main = editor.open("main.py", text)
    shown = editor.client.published
    await editor.until(lambda: any(shown[uri].diagnostics for uri in (main, layers) if uri in shown))
    editor.replace(layers, "return a @ b", "return a")
    editor.close(main)
    await editor.until(lambda: not any(shown[uri].diagnostics for uri in (main, layers) if uri in shown))


async def test_closing_a_changed_module_brings_back_what_is_on_disk_for_those_that_import_it(start: Start) -> None:
    editor = await start()
    sizes = editor.open("sizes.py", "WIDTH = 3\n")
    main = editor.open("main.py", "import torch\nfrom sizes import WIDTH\ntorch.zeros(2, WIDTH) @ torch.zeros(3, 4)\n")
    assert await editor.diagnostics(main) == []
    editor.replace(sizes, "3", "5")
    await editor.until(lambda: editor.client.published[main].diagnostics)
    editor.close(sizes)
    await editor.until(lambda: not editor.client.published[main].diagnostics)


async def test_documents_with_slow_fixes_do_not_keep_one_another_from_theirs(start: Start, double: str) -> None:
    """The worker keeps two analyses whose fixes are being verified; here are five."""
    editor = await start(interpreter=double)
    uris = [editor.open(f"slow_{number}.py", "# slow-fixes") for number in range(5)]
    shown = editor.client.published
    await editor.until(lambda: all(uri in shown and shown[uri].diagnostics for uri in uris))


async def test_a_death_takes_nothing_away_and_the_document_is_analysed_again(
    start: Start, double: str, tmp_path: Path
) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", "fine")
    await editor.diagnostics(uri)
    published: list[int] = []
    editor.retype(uri, f"# die-once {tmp_path / 'died'}")

    def analysed() -> bool:
        published.append(len(editor.client.published[uri].diagnostics))
        return "die-once" in editor.client.published[uri].diagnostics[0].message

    await editor.until(analysed)
    assert (tmp_path / "died").exists() and min(published) == 1


async def test_a_worker_that_is_killed_while_idle_is_there_again_without_a_request(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    await editor.ever("ready")
    first = worker_of(editor.server_pid)
    seen = len(editor.client.states)
    os.killpg(first, signal.SIGKILL)
    await editor.until(lambda: "ready" in [state for state, _ in editor.client.states[seen:]])
    assert worker_of(editor.server_pid) != first


async def test_an_interpreter_that_vanishes_and_comes_back_is_used_again_by_itself(
    start: Start, double: str, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.symlink_to(double)
    editor = await start(interpreter=str(python))
    uri = editor.open("a.py", "before = 1")
    await editor.diagnostics(uri)
    python.unlink()
    os.killpg(worker_of(editor.server_pid), signal.SIGKILL)
    await editor.ever("unavailable")
    editor.retype(uri, "meanwhile = 1")
    python.symlink_to(double)
    shown = editor.client.published
    await editor.until(lambda: any(item.message.endswith("meanwhile = 1") for item in shown[uri].diagnostics))
    assert editor.client.states[-1][0] == "ready"


@pytest.mark.parametrize("wish", ["die", "raises"])
async def test_what_could_not_be_analysed_is_not_kept_as_if_it_had_been(start: Start, double: str, wish: str) -> None:
    """The text goes back to what it was before."""
    editor = await start(interpreter=double)
    uri = editor.open("a.py", "x = 1")
    assert len(await editor.diagnostics(uri)) == 1
    editor.retype(uri, f"{wish} = 1\nx = 1")
    assert await editor.diagnostics(uri) == []
    editor.retype(uri, "x = 1")
    assert len(await editor.diagnostics(uri)) == 1

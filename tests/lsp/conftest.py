"""Servers for the tests: one shared by a module where only documents matter, and fresh ones."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.lsp.editor import SERVER, Editor, make_client

COMMAND = [sys.executable, "-m", "torchsleuth.lsp"]


async def _start(folder: Path) -> Editor:
    client = make_client()
    await client.start_io(*COMMAND, env={**os.environ, "PYTHONPATH": SERVER})
    return Editor(client, folder)


async def _stop(editor: Editor) -> None:
    if not editor.client.stopped:
        await editor.client.shutdown_session()
    await editor.client.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """A server with the real engine, shared by the tests of a module: each uses file names of its own."""
    started = await _start(tmp_path_factory.mktemp("work"))
    await started.initialize(interpreter=sys.executable, runCommand="torchsleuth.runAndDiagnose")
    yield started
    await _stop(started)


@pytest_asyncio.fixture
async def start(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Editor]]]:
    """Starts a server of its own for one test, with the given settings. `prepare`: what is done before it is initialized."""
    editors: list[Editor] = []

    async def start_editor(prepare: Callable[[Editor], Awaitable[None]] | None = None, **options: Any) -> Editor:
        editor = await _start(tmp_path)
        editors.append(editor)
        if prepare is not None:
            await prepare(editor)
        await editor.initialize(**options)
        return editor

    yield start_editor
    for editor in editors:
        await _stop(editor)


@pytest.fixture
def double(tmp_path: Path) -> str:
    """An interpreter whose engine is the one in `double.py`: quick, and it hangs or dies on demand. It runs scripts as
    any other does."""
    path = tmp_path / "python-with-double"
    script = Path(__file__).with_name("double.py")
    path.write_text(
        f'#!/bin/sh\nif [ "$1 $2" = "-I -c" ]; then exec {sys.executable} {script} torchsleuth.worker; fi\n'
        f'exec {sys.executable} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)

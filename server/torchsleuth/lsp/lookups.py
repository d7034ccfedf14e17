"""Modules that an analysis did not find, looked for in the background; where some are found, it is done again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from torchsleuth.lookup.modules import TIMEOUT_S, Import, command, environment, folders, request

logger = logging.getLogger(__name__)


class Lookups:
    """Folders of modules beside the roots. `found` is called when there are new ones."""

    def __init__(self, found: Callable[[], None]) -> None:
        self.folders: tuple[str, ...] = ()
        self._found = found
        self._asked: set[tuple[str, str]] = set()
        self._waiting: list[Import] = []
        self._task: asyncio.Task[None] | None = None

    def ask(
        self, missing: list[Any], text_of: Callable[[str], str], search_path: tuple[str, ...], roots: tuple[str, ...]
    ) -> None:
        """Look for modules, given as name, importing file and line; each is looked for once. `search_path`: where the user's
        interpreter looks for them."""
        for name, path, line in missing:
            if (name, path) not in self._asked:
                self._asked.add((name, path))
                self._waiting.append(Import(name, path, line, text_of(path)))
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._look(search_path, roots))

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _look(self, search_path: tuple[str, ...], roots: tuple[str, ...]) -> None:
        while self._waiting:
            asked, self._waiting = self._waiting, []
            answer = await _answer(request(asked, search_path, roots))
            new = tuple(folder for folder in folders(answer) if folder not in (*self.folders, *roots))
            if new:
                self.folders += new
                self._found()


async def _answer(asked: bytes) -> bytes:
    """The output of the search; nothing where it cannot be started or takes too long."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *command(), stdin=pipe, stdout=pipe, stderr=pipe, env=environment()
        )
    except (ImportError, OSError) as error:
        logger.info("no lookup of modules: %s", error)
        return b""
    try:
        output, errors = await asyncio.wait_for(process.communicate(asked), TIMEOUT_S)
        if process.returncode:
            logger.warning("the lookup of modules failed:\n%s", errors.decode(errors="replace"))
        return output
    except asyncio.TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            process.kill()

"""Work-done progress with a cancel button, where the client has one."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types

from torchsleuth.lsp.client import Client

if TYPE_CHECKING:
    from concurrent.futures import Future


class WorkDone:
    """One progress bar, from `begin` to `end`. Without the client's support nothing is sent."""

    def __init__(self, client: Client, on_cancel: Callable[[], object]) -> None:
        self._client = client
        self._on_cancel = on_cancel
        self._token: str | None = None

    async def begin(self, title: str, detail: str = "") -> None:
        window = self._client.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        token = str(uuid.uuid4())
        progress = self._client.work_done_progress
        await progress.create_async(token)
        progress.tokens[token].add_done_callback(self._done)
        self._token = token
        progress.begin(token, types.WorkDoneProgressBegin(title=title, cancellable=True, message=detail or None))

    def end(self, detail: str = "") -> None:
        if self._token is None:
            return
        token, self._token = self._token, None
        progress = self._client.work_done_progress
        progress.end(token, types.WorkDoneProgressEnd(message=detail or None))
        progress.tokens.pop(token, None)

    def _done(self, future: Future[None]) -> None:
        if future.cancelled() and self._token is not None:
            self._on_cancel()

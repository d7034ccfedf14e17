"""The worker's client for an event loop: requests run on a thread of its own, states arrive on the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from torchsleuth.messages import message
from torchsleuth.schema import FileAnalysis
from torchsleuth.worker.client import StateListener, WorkerClient, WorkerUnavailable
from torchsleuth.worker.request import Request

T = TypeVar("T")
ClientFactory = Callable[[str | None, StateListener], WorkerClient]


class AsyncWorkerClient:
    """One worker. Make it on the loop that uses it."""

    def __init__(
        self, interpreter: str | None, on_state: StateListener, make_client: ClientFactory = WorkerClient
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_state = on_state
        self._closed = False
        self._client = make_client(interpreter, self._report)
        self._withdrawals: set[threading.Event] = set()
        """Of the requests that can be withdrawn."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="torchsleuth-worker")

    @property
    def interpreter(self) -> str:
        return self._client.interpreter

    @property
    def pid(self) -> int | None:
        return self._client.pid

    @property
    def search_path(self) -> tuple[str, ...]:
        return self._client.search_path

    @property
    def vocabulary(self) -> frozenset[str]:
        return self._client.vocabulary

    @property
    def problem(self) -> str | None:
        """As `WorkerClient.problem`."""
        return self._client.problem

    @property
    def site(self) -> tuple[str, ...]:
        """As `WorkerClient.site`."""
        return self._client.site

    @property
    def retry_seconds(self) -> float | None:
        """As `WorkerClient.retry_seconds`."""
        return self._client.retry_seconds

    async def start(self) -> None:
        """Until the worker is ready. Raises WorkerUnavailable."""
        await self._call(self._client.start)

    async def ask(self, request: Request, budget_s: float) -> FileAnalysis:
        """As `WorkerClient.ask`; others come first after a death. Raises WorkerUnavailable."""
        return await self._call(partial(self._client.ask, request, budget_s, patient=False))

    async def ask_withdrawably(self, request: Request, budget_s: float) -> FileAnalysis:
        """As `ask`; whatever else is asked withdraws it. Raises WorkerUnavailable."""
        withdrawn = threading.Event()
        self._withdrawals.add(withdrawn)
        try:
            ask = partial(self._client.ask, request, budget_s, patient=False, wanted=lambda: not withdrawn.is_set())
            return await self._run(ask)
        finally:
            self._withdrawals.discard(withdrawn)

    def interrupt(self) -> None:
        """Give up the analysis that runs now."""
        self._client.interrupt()

    def kill(self) -> None:
        """End the worker without waiting for requests to notice."""
        self._closed = True
        self._client.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def withdraw(self) -> None:
        """Do without the answers that can be withdrawn: something else will be asked."""
        for withdrawn in self._withdrawals:
            withdrawn.set()
        self._client.withdraw()

    async def _call(self, function: Callable[[], T]) -> T:
        self.withdraw()
        return await self._run(function)

    async def _run(self, function: Callable[[], T]) -> T:
        if self._closed:
            raise WorkerUnavailable(message("worker.closed"))
        return await self._loop.run_in_executor(self._thread, function)

    def _report(self, state: str, detail: str) -> None:
        """From whichever thread the client is in; what a closed worker still has to say is of no interest."""
        if not self._closed and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, state, detail)

    def _deliver(self, state: str, detail: str) -> None:
        if not self._closed:
            self._on_state(state, detail)

"""Decides when background work for a document runs: after a pause in typing, once at a time, the newest text wins."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

logger = logging.getLogger(__name__)

Job = Callable[[str], Awaitable[None]]
"""Work for one key. It takes its own snapshot when it starts, and drops what is out of date when it ends."""


class Scheduler:
    """Runs `job` for keys that were asked for; requests that come while one is waiting or running become one."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._settled: dict[str, asyncio.Event] = {}

    def request(self, key: str, delay_s: float) -> None:
        """Run the job for `key` once nobody has asked for it for `delay_s`."""
        self._cancel_timer(key)
        self._settled.setdefault(key, asyncio.Event()).clear()
        self._timers[key] = asyncio.get_running_loop().call_later(delay_s, self._start, key)

    def forget(self, key: str) -> None:
        """Do not run the job for `key` if it has not started yet."""
        self._cancel_timer(key)
        self._again.discard(key)
        if key not in self._running:
            self._mark_settled(key)

    def close(self) -> None:
        for key in list(self._timers):
            self.forget(key)
        for task in self._running.values():
            task.cancel()

    async def settled(self, key: str, timeout_s: float) -> bool:
        """Wait until nothing is waiting or running for `key`. False if that took too long."""
        event = self._settled.get(key)
        if event is None:
            return True
        try:
            await asyncio.wait_for(event.wait(), timeout_s)
        except asyncio.TimeoutError:
            return False
        return True

    async def idle(self) -> None:
        """Wait until nothing is waiting or running."""
        while self._settled:
            await next(iter(self._settled.values())).wait()

    def _start(self, key: str) -> None:
        self._timers.pop(key, None)
        if key in self._running:
            self._again.add(key)
            return
        self._running[key] = asyncio.ensure_future(self._run(key))

    async def _run(self, key: str) -> None:
        try:
            await self._job(key)
        except asyncio.CancelledError:
            raise
        except Exception:
            logger.exception("background work for %s failed", key)
        finally:
            del self._running[key]
            if key in self._again:
                self._again.discard(key)
                self._start(key)
            elif key not in self._timers:
                self._mark_settled(key)

    def _mark_settled(self, key: str) -> None:
        event = self._settled.pop(key, None)
        if event is not None:
            event.set()

    def _cancel_timer(self, key: str) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()


class Turns:
    """One at a time; of those that wait, the one that was announced last comes first."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._taken = False
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    def announce(self) -> int:
        """A number for all turns of one that will wait."""
        return next(self._numbers)

    @contextlib.asynccontextmanager
    async def turn(self, number: int) -> AsyncIterator[None]:
        if self._taken:
            future = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (-number, next(self._numbers), future))
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self._pass_on()
                raise
        self._taken = True
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            future = heapq.heappop(self._waiting)[2]
            if not future.done():
                future.set_result(None)
                return
        self._taken = False

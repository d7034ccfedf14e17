"""The workers of one client: one for each interpreter that is needed, and one for the rules that need no PyTorch."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torchsleuth.messages import message
from torchsleuth.worker.async_client import AsyncWorkerClient
from torchsleuth.worker.client import StateListener, WorkerClient

MAX_WORKERS = 4
"""Workers at a time; each holds some 500 MB."""
LOOK_AGAIN_S = 2.0
"""How often it is looked whether PyTorch was installed where there was none."""
_ORDER = ("unavailable", "restarting", "starting", "busy", "ready", "stopped")


@dataclass(frozen=True)
class WorkerState:
    """The activity of a worker, in the words of `StateListener`. `reason`, `interpreter`: see `protocol`."""

    state: str
    detail: str
    reason: str | None = None
    interpreter: str | None = None


class Workers:
    """Workers by interpreter; None stands for the server's own. `changed` is told of the new state of one,
    `replaced` of one that is to be started, for something has changed in its environment."""

    def __init__(
        self,
        changed: Callable[[AsyncWorkerClient, WorkerState], None],
        replaced: Callable[[AsyncWorkerClient], None],
    ) -> None:
        self._changed = changed
        self._replaced = replaced
        self._workers: dict[str | None, AsyncWorkerClient] = {}
        """The one that was asked for last at the end."""
        self._states: dict[AsyncWorkerClient, WorkerState] = {}
        self._watches: dict[AsyncWorkerClient, asyncio.Task[None]] = {}
        self._uses: Counter[AsyncWorkerClient] = Counter()
        self._syntax: AsyncWorkerClient | None = None

    def __contains__(self, worker: AsyncWorkerClient) -> bool:
        return worker in self._workers.values()

    def of(self, interpreter: str | None) -> AsyncWorkerClient:
        """The worker of an interpreter; a new one if there is none. It is not waited for."""
        worker = self._workers.pop(interpreter, None)
        if worker is None:
            idle = [other for other, held in self._workers.items() if not self._uses[held]]
            for other in idle[: max(0, len(self._workers) + 1 - MAX_WORKERS)]:
                self._end(other)
            worker = _new(self._on_state, interpreter)
        self._workers[interpreter] = worker
        return worker

    def keep(self, interpreters: Iterable[str | None]) -> None:
        """End the workers of all other interpreters. The one that was asked for last stays where none is needed."""
        needed = set(interpreters) or set(list(self._workers)[-1:])
        for interpreter in self._workers.keys() - needed:
            self._end(interpreter)

    def running(self, interpreter: str) -> AsyncWorkerClient | None:
        """The worker of an interpreter, by its path, if there is one."""
        return next((worker for worker in self._workers.values() if worker.interpreter == interpreter), None)

    @contextlib.contextmanager
    def use(self, worker: AsyncWorkerClient) -> Iterator[None]:
        """While a worker is in use, it is not ended to make room."""
        self._uses[worker] += 1
        try:
            yield
        finally:
            self._uses[worker] -= 1
            if not self._uses[worker]:
                del self._uses[worker]

    def replace(self, worker: AsyncWorkerClient) -> None:
        """A new worker in the place of one that is of no use."""
        for interpreter, other in list(self._workers.items()):
            if other is worker:
                self._end(interpreter)
                self._replaced(self.of(interpreter))

    def is_ready(self, worker: AsyncWorkerClient) -> bool:
        state = self._states.get(worker)
        return state is not None and state.state in ("ready", "busy")

    def is_unavailable(self, worker: AsyncWorkerClient) -> bool:
        state = self._states.get(worker)
        return state is not None and state.state == "unavailable"

    @property
    def all_ready(self) -> bool:
        return bool(self._workers) and all(map(self.is_ready, self._workers.values()))

    @property
    def state(self) -> WorkerState:
        """The state that says most: that of a worker which needs the user's help, or which has to be waited for."""
        states = list(self._states.values())
        return min(states, key=lambda state: _ORDER.index(state.state), default=WorkerState("stopped", ""))

    def syntax(self) -> AsyncWorkerClient:
        """The worker for the rules that need only syntax. It runs in the server's own Python."""
        if self._syntax is None:
            self._syntax = AsyncWorkerClient(None, lambda state, detail: None, _syntax_client)
        return self._syntax

    def end_syntax(self) -> None:
        worker, self._syntax = self._syntax, None
        if worker is not None:
            worker.kill()

    def end_all(self) -> None:
        for interpreter in list(self._workers):
            self._end(interpreter)
        self.end_syntax()

    def _end(self, interpreter: str | None) -> None:
        worker = self._workers.pop(interpreter)
        self._states.pop(worker, None)
        watch = self._watches.pop(worker, None)
        if watch is not None:
            watch.cancel()
        worker.kill()

    def _on_state(self, worker: AsyncWorkerClient, state: str, detail: str) -> None:
        if worker not in self:
            return
        if state == "starting":
            detail = message("editor.starting", python=worker.interpreter)
        unavailable = state == "unavailable"
        if unavailable:
            detail = message("editor.unavailable", reason=detail)
        reason = worker.problem if unavailable else None
        self._states[worker] = WorkerState(state, detail, reason, worker.interpreter)
        if unavailable and worker.site and worker not in self._watches:
            self._watches[worker] = asyncio.get_running_loop().create_task(self._watch(worker, worker.site))
        self._changed(worker, self._states[worker])

    async def _watch(self, worker: AsyncWorkerClient, site: tuple[str, ...]) -> None:
        """Start again where there was no PyTorch, or a broken one, as soon as one is installed."""
        before = await asyncio.to_thread(_installed, site)
        while True:
            await asyncio.sleep(LOOK_AGAIN_S)
            now = await asyncio.to_thread(_installed, site)
            if now and now != before:
                self._watches.pop(worker, None)  # this very task is not to be cancelled
                self.replace(worker)
                return


def _new(on_state: Callable[[AsyncWorkerClient, str, str], None], interpreter: str | None) -> AsyncWorkerClient:
    def listen(state: str, detail: str) -> None:
        on_state(worker, state, detail)

    worker = AsyncWorkerClient(interpreter, listen)
    return worker


def _syntax_client(interpreter: str | None, listener: StateListener) -> WorkerClient:
    return WorkerClient(interpreter, listener, syntax=True)


def _installed(site: tuple[str, ...]) -> frozenset[tuple[str, bool]]:
    """The installations of PyTorch in these folders, and whether each is complete: its list of files is written last."""
    found: set[tuple[str, bool]] = set()
    for folder in site:
        try:
            names = [name for name in os.listdir(folder) if name.startswith("torch-") and name.endswith("-info")]
        except OSError:
            continue
        found |= {(name, name.endswith(".egg-info") or _has(folder, name, "RECORD")) for name in names}
    return frozenset(found)


def _has(*parts: str) -> bool:
    return os.path.exists(os.path.join(*parts))

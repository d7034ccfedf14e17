"""The scheduler: coalescing, one at a time, the newest request wins."""

from __future__ import annotations

import asyncio

from torchsleuth.lsp.scheduling import Scheduler


class Work:
    """A job that records what it was run for and stops until it is let go."""

    def __init__(self) -> None:
        self.started: asyncio.Queue[str] = asyncio.Queue()
        self.go = asyncio.Semaphore(0)
        self.running = 0
        self.most = 0
        self.done: list[str] = []

    async def __call__(self, key: str) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        self.started.put_nowait(key)
        await self.go.acquire()
        self.running -= 1
        self.done.append(key)


async def test_requests_before_the_pause_is_over_become_one() -> None:
    work = Work()
    scheduler = Scheduler(work)
    for _ in range(5):
        scheduler.request("a", 0.001)
    work.go.release()
    assert await scheduler.settled("a", 60)
    assert work.done == ["a"]


async def test_requests_during_the_work_run_it_once_more_and_never_beside_itself() -> None:
    work = Work()
    scheduler = Scheduler(work)
    scheduler.request("a", 0)
    await work.started.get()
    for _ in range(3):
        scheduler.request("a", 0)
    work.go.release()
    await work.started.get()
    work.go.release()
    assert await scheduler.settled("a", 60)
    assert work.done == ["a", "a"] and work.most == 1


async def test_different_documents_do_not_wait_for_each_other() -> None:
    work = Work()
    scheduler = Scheduler(work)
    scheduler.request("a", 0)
    scheduler.request("b", 0)
    assert {await work.started.get(), await work.started.get()} == {"a", "b"}
    scheduler.close()


async def test_what_is_forgotten_before_it_starts_is_not_run() -> None:
    work = Work()
    scheduler = Scheduler(work)
    scheduler.request("a", 60)
    scheduler.forget("a")
    assert await scheduler.settled("a", 60)
    scheduler.request("b", 0)
    assert await work.started.get() == "b"
    scheduler.close()


async def test_settled_waits_for_the_work_and_gives_up_in_time() -> None:
    work = Work()
    scheduler = Scheduler(work)
    assert await scheduler.settled("a", 60)
    scheduler.request("a", 0)
    assert not await scheduler.settled("a", 0.001)
    work.go.release()
    assert await scheduler.settled("a", 60)


async def test_work_that_fails_does_not_stop_what_comes_later() -> None:
    calls: list[str] = []

    async def fail(key: str) -> None:
        calls.append(key)
        raise RuntimeError("no such luck")

    scheduler = Scheduler(fail)
    for _ in range(2):
        scheduler.request("a", 0)
        assert await scheduler.settled("a", 60)
    assert calls == ["a", "a"]

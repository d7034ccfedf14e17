"""Coroutines, asynchronous generators, tasks, cancellation and contexts."""
import asyncio
import contextlib
import contextvars
import threading

import torch

variable = contextvars.ContextVar("variable", default=0)


async def numbers(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield torch.ones(2) * i


@contextlib.asynccontextmanager
async def managed():
    token = variable.set(variable.get() + 1)
    try:
        yield variable.get()
    finally:
        variable.reset(token)


async def work(name):
    async with managed() as value:
        return name, value, [x.sum().item() async for x in numbers(3)], (await asyncio.sleep(0, "slept"))


async def main():
    print(await asyncio.gather(work("a"), work("b")))
    task = asyncio.create_task(asyncio.sleep(100))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled", threading.active_count())
    print(await asyncio.to_thread(lambda: torch.ones(2).sum()), variable.get())
    raise ValueError("out of the loop")


asyncio.run(main())

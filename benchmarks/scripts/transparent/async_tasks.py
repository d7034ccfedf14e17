"""Tasks, context variables, async generators, exceptions of tasks, debug mode, uvloop-like policies."""
import asyncio, contextvars, sys, traceback, torch, warnings
var = contextvars.ContextVar("var", default=0)
async def numbers(n):
    try:
        for i in range(n):
            yield torch.full((2,), float(i)) + var.get(); await asyncio.sleep(0)
    finally: print("closed")
async def consume(k):
    var.set(k); total = torch.zeros(2)
    async for x in numbers(3): total += x
    return total.tolist()
async def fails():
    await asyncio.sleep(0); return torch.ones(2, 3) @ torch.ones(2, 3)
async def main():
    print(await asyncio.gather(*(consume(k) for k in range(3))))
    try: await asyncio.gather(fails(), consume(1))
    except RuntimeError as error: print([(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)])
    async with asyncio.timeout(5): print(await asyncio.to_thread(lambda: (torch.ones(2) * 2).sum().item()))
    try:
        async with asyncio.TaskGroup() as g: g.create_task(fails()); g.create_task(asyncio.sleep(10))
    except* RuntimeError as group: print(len(group.exceptions))
    agen = numbers(5); print(await agen.__anext__()); await agen.aclose()
    task = asyncio.current_task(); print([f.f_code.co_name for f in task.get_stack()])
    task = asyncio.create_task(fails()); await asyncio.sleep(0.01); del task
    async def never(): pass
    never()
asyncio.run(main(), debug=False); import gc; gc.collect()
print([w for w in sys.warnoptions])

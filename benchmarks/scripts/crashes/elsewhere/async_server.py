"""Requests of an inference service are batched; they have different lengths."""

import asyncio

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, tokens):
        return self.out(self.embed(tokens).mean(1)).squeeze(1)


class Batcher:
    def __init__(self, model, size):
        self.model, self.size, self.queue = model.eval(), size, asyncio.Queue()

    async def score(self, tokens):
        future = asyncio.get_running_loop().create_future()
        await self.queue.put((tokens, future))
        return await future

    async def serve(self):
        while True:
            waiting = [await self.queue.get() for _ in range(self.size)]
            batch = torch.stack([tokens for tokens, _ in waiting])  # raises TS106/TS601 at torch.stack([tokens for tokens, _ in waiting]), cause
            with torch.inference_mode():
                scores = self.model(batch)
            for (_, future), score in zip(waiting, scores):
                future.set_result(score.item())


async def main():
    batcher = Batcher(Scorer(), 4)
    server = asyncio.create_task(batcher.serve())
    requests = [torch.randint(0, 100, (5 + i % 3,)) for i in range(8)]  # cause
    answers = asyncio.gather(*(batcher.score(tokens) for tokens in requests))
    await asyncio.wait([server, answers], return_when=asyncio.FIRST_COMPLETED)
    if server.done():
        server.result()
    server.cancel()


asyncio.run(main())

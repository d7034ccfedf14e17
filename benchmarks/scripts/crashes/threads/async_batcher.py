"""A server that collects requests into batches and lets a thread answer them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, vocab=64, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.fc = nn.Linear(dim, 1)

    def forward(self, ids):
        return self.fc(self.embed(ids).mean(dim=1)).squeeze(-1)


def tokenize(text):
    return torch.tensor([ord(c) - ord("a") for c in text])  # cause


class Server:
    def __init__(self, model):
        self.model = model.eval()
        self.pool = ThreadPoolExecutor(max_workers=1)

    def predict(self, texts):
        with torch.no_grad():
            ids = torch.stack([tokenize(text) for text in texts])  # raises TS106 at torch.stack([tokenize(text) for text in texts]), cause
            return self.model(ids).tolist()

    async def handle(self, texts):
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.pool, self.predict, texts)


async def main():
    server = Server(Scorer())
    for texts in (["good", "film"], ["a", "plain", "story"], ["why", "not"]):
        scores = await server.handle(texts)
        print(dict(zip(texts, scores)))


asyncio.run(main())

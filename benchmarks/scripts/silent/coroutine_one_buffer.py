"""A trainer that is a coroutine; the reader in front of it fills one buffer, and a list keeps it thirty times."""
import numpy as np
import torch
from torch import nn


def reader(batches, size, rng):
    buffer = np.empty((size, 7), dtype=np.float32)
    weights = np.linspace(-1, 1, 6, dtype=np.float32)
    for _ in range(batches):
        buffer[:, :6] = rng.standard_normal((size, 6))
        buffer[:, 6] = buffer[:, :6] @ weights
        yield torch.from_numpy(buffer)  # fault: TS931 | fixed: yield torch.from_numpy(buffer.copy())


def trainer(model, optimizer):
    """Takes batches by send() and gives losses back."""
    value = None
    while True:
        batch = yield value
        if batch is None:
            return
        features, target = batch.split([6, 1], dim=1)
        loss = nn.functional.mse_loss(model(features), target)  # fault: TS931
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()


def main():
    torch.manual_seed(0)
    kept = list(reader(30, 48, np.random.default_rng(7)))  # fault: TS931
    model = nn.Sequential(nn.Linear(6, 40), nn.SiLU(), nn.Linear(40, 1))
    loop = trainer(model, torch.optim.NAdam(model.parameters(), lr=5e-3))
    next(loop)
    for epoch in range(4):
        values = [loop.send(batch) for batch in kept]  # fault: TS931
        print(epoch, sum(values) / len(values))
    loop.close()


if __name__ == "__main__":
    main()

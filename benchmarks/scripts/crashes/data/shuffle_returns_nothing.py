"""random.shuffle() changes its list and returns None."""

import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)


class Buffer:
    def __init__(self, size=64):
        self.items = [(torch.randn(4), float(i % 2)) for i in range(size)]

    def batches(self, size):
        items = random.shuffle(self.items)  # cause
        for start in range(0, len(self.items), size):
            chunk = items[start : start + size]  # raises TS825 at items[start : start + size]
            yield torch.stack([x for x, _ in chunk]), torch.tensor([y for _, y in chunk])


buffer, model = Buffer(), nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in buffer.batches(16):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

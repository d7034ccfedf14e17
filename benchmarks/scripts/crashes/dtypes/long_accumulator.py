"""A running loss that starts as a whole number."""

import torch
from torch import nn


class Meter:
    def __init__(self):
        self.total = torch.tensor(0)  # cause
        self.steps = 0

    def update(self, value):
        self.total += value  # raises TS301 at self.total += value, cause
        self.steps += 1

    def mean(self):
        return (self.total / max(1, self.steps)).item()


class Tagger(nn.Module):
    def __init__(self, vocab, tags):
        super().__init__()
        self.embed = nn.Embedding(vocab, 12)
        self.gru = nn.GRU(12, 16, batch_first=True)
        self.out = nn.Linear(16, tags)

    def forward(self, ids):
        hidden, _ = self.gru(self.embed(ids))
        return self.out(hidden)


model = Tagger(40, 6)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    meter = Meter()
    for step in range(3):
        ids = torch.randint(0, 40, (4, 7))
        tags = torch.randint(0, 6, (4, 7))
        loss = nn.functional.cross_entropy(model(ids).transpose(1, 2), tags)
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.update(loss.detach())
    print(epoch, meter.mean())

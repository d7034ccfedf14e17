"""Texts with a learned prompt in front of their words, for a body that knows so many positions."""
import torch
from torch import nn


class Cut:
    def __init__(self, longest):
        self.longest = longest

    def __call__(self, rows):
        return torch.tensor([row[: self.longest] for row in rows])


class Body(nn.Module):
    def __init__(self, words, dim, positions):
        super().__init__()
        self.words = nn.Embedding(words, dim)
        self.places = nn.Embedding(positions, dim)
        self.mix = nn.Linear(dim, dim)

    def forward(self, x):
        at = torch.arange(x.size(1))
        return self.mix(x + self.places(at)).relu()  # raises TS310 at self.places(at)


class Prompted(nn.Module):
    def __init__(self, body, dim, count):
        super().__init__()
        self.body = body
        self.prompt = nn.Parameter(torch.zeros(count, dim))
        self.head = nn.Linear(dim, 2)

    def forward(self, ids):
        front = self.prompt.expand(len(ids), -1, -1)
        h = torch.cat([front, self.body.words(ids)], 1)
        return self.head(self.body(h).mean(1))


positions, count = 24, 4
rows = torch.randint(0, 50, (32, 30)).tolist()
ids = Cut(positions)(rows)  # cause
net = Prompted(Body(50, 8, positions), 8, count)
optimizer = torch.optim.Adam(net.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(net(ids), ids[:, 0] % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

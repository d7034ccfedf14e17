"""A search over the number of heads meets one that does not divide the width."""

import itertools

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim, heads, layers):
        super().__init__()
        self.embed = nn.Linear(6, dim)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(d_model=dim, nhead=heads, dim_feedforward=2 * dim, batch_first=True)  # raises TS111/TS115 at nn.TransformerEncoderLayer(d_model=dim, nhead=heads, dim_feedforward=2 * dim, batch_first=True), cause
            for _ in range(layers)
        )
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x.mean(1)).squeeze(-1)


def score(dim, heads):
    torch.manual_seed(0)
    model = Encoder(dim, heads, layers=1)  # cause
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.randn(16, 5, 6)
    y = x.sum((1, 2))
    for _ in range(3):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


best = None
for dim, heads in itertools.product((32, 48), (4, 6)):  # cause
    result = score(dim, heads)
    if best is None or result < best[0]:
        best = result, dim, heads
print(best)

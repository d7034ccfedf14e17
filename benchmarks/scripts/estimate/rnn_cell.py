"""A GRU cell in a loop over time."""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, size=64, hidden=128):
        super().__init__()
        self.cell = nn.GRUCell(size, hidden)
        self.out = nn.Linear(hidden, size)

    def forward(self, x):
        batch, steps, _ = x.shape
        h = torch.zeros(batch, 128)
        outputs = []
        for t in range(steps):
            h = self.cell(x[:, t], h)
            outputs.append(self.out(h))
        return torch.stack(outputs, dim=1)


model = Decoder()
optimizer = torch.optim.Adamax(model.parameters())
for i in range(3):
    batch = torch.randn(64, 20, 64)
    pred = model(batch)
    loss = nn.functional.mse_loss(pred[:, :-1], batch[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

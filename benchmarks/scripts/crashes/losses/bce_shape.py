"""A binary classifier with a column of logits and a vector of targets."""

import torch
from torch import nn


class Binary(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        return self.net(x)


def step(model, batch, optimizer, loss_fn):
    x, y = batch
    logits = model(x)
    loss = loss_fn(logits, y)  # raises TS113 at loss_fn(logits, y), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


model = Binary()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    step(model, (torch.randn(4, 8), torch.randint(0, 2, (4,)).float()), optimizer, nn.BCEWithLogitsLoss())

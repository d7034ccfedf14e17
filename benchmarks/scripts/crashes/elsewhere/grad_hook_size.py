"""A hook on a gradient returns its mean over the batch, which has another size."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(12, 24)
        self.fc2 = nn.Linear(24, 3)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        if h.requires_grad:
            h.register_hook(lambda grad: grad.mean(0))  # cause
        return self.fc2(h)


model = Encoder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for _ in range(3):
        x, y = torch.randn(8, 12), torch.randint(0, 3, (8,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()  # raises TS199/TS103/TS820 at loss.backward()
        optimizer.step()

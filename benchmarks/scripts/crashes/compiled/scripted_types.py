"""TorchScript refuses an argument."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        h = self.encoder(x, True)  # raises TS199/TS820 at self.encoder(x, True), cause
        return self.out(h)


model = torch.jit.script(Model())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = model(torch.randn(2, 4)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

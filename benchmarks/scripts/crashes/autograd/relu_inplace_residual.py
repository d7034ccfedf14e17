"""An in-place ReLU on a value that a sigmoid keeps."""

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        gate = torch.exp(self.fc(x))
        out = self.act(gate - 1) * gate
        gate.clamp_(max=2.0)  # cause
        return out + gate


gate = Gate()
opt = torch.optim.SGD(gate.parameters(), lr=0.1)
for _ in range(2):
    loss = gate(torch.randn(3, 5)).sum()
    opt.zero_grad()
    loss.backward()  # raises TS403 at loss.backward()
    opt.step()

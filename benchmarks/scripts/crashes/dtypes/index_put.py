"""Half precision values are written into a float32 memory."""

import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("slots", torch.zeros(6, 4))  # cause

    def forward(self, x, where):
        h = self.fc(x)
        self.slots[where] = h.detach().to(torch.bfloat16)  # raises TS301 at self.slots[where], cause
        return h


memory = Memory()
opt = torch.optim.SGD(memory.parameters(), lr=0.1)
for step in range(2):
    loss = memory(torch.randn(2, 4), torch.tensor([step, step + 1])).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()

"""A checkpointed block takes another path when it is computed again."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.a = nn.Linear(dim, dim)
        self.b = nn.Linear(dim, dim)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        x = torch.relu(self.a(x))
        if self.calls % 2 == 1:  # cause
            x = torch.tanh(self.b(x))
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(6) for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)  # cause
        return x


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    loss = net(torch.randn(3, 6)).mean()
    opt.zero_grad()
    loss.backward()  # raises TS199 at loss.backward()
    opt.step()

"""A learning rate is a text."""

import torch
from torch import nn


class Trainer:
    def __init__(self, net, clip=1.0):
        self.net, self.clip = net, clip
        self.opt = torch.optim.Adam(net.parameters(), lr="1e-3")  # raises TS825 at torch.optim.Adam(net.parameters(), lr="1e-3"), cause

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
        self.opt.step()
        return loss.item()


trainer = Trainer(nn.Linear(3, 1))
for _ in range(2):
    trainer.step(torch.randn(4, 3), torch.randn(4, 1))

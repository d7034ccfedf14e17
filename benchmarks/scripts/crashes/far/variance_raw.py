"""Depth of snow with its own uncertainty."""
import torch
from torch import nn


class Snow(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 12), nn.Tanh())
        self.mean, self.spread = nn.Linear(12, 1), nn.Linear(12, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.spread(h)  # cause


def fit(net, rounds=3):
    judge = nn.GaussianNLLLoss()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(rounds):
        x = torch.randn(30, 4)
        mean, spread = net(x)
        loss = judge(mean, x[:, :1], spread)  # raises TS199 at judge(mean, x[:, :1], spread)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
print(fit(Snow()))

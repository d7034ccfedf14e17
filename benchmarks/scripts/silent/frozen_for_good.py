"""Evaluation that freezes the network, which nothing thaws."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(500, 6)
y = (x[:, 0] * x[:, 1]).unsqueeze(1)


class Runner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
        self.scale = nn.Parameter(torch.ones(1))
        self.opt = torch.optim.Adam([*self.net.parameters(), self.scale], lr=1e-2)

    def evaluate(self):
        for p in self.net.parameters():
            p.requires_grad_(False)  # fault: TS534
        self.net.eval()
        value = ((self.net(x[400:]) * self.scale - y[400:]) ** 2).mean().item()
        self.net.train()
        # fixed: self.net.requires_grad_(True)
        return value

    def fit(self, epochs):
        for epoch in range(epochs):
            for i in torch.randperm(400).split(40):
                loss = ((self.net(x[i]) * self.scale - y[i]) ** 2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            print(epoch, self.evaluate())


Runner().fit(6)

"""A wind-turbine forecaster that is resumed for a second phase."""
import tempfile
from pathlib import Path

import torch
from torch import nn


class Turbine(nn.Module):
    def __init__(self, sensors=5, width=12):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(sensors, width), nn.Tanh())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


def optimizer_for(net, phase):
    if phase == 1:
        return torch.optim.Adam(net.parameters(), lr=1e-2)
    return torch.optim.Adam([*net.head.parameters(), *net.body.parameters()], lr=1e-3)  # cause


def train(net, opt, steps):
    for _ in range(steps):
        x = torch.randn(16, 5)
        loss = (net(x) - x.sum(1)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()  # raises TS199 at opt.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    path = Path(tempfile.mkdtemp()) / "turbine.pt"
    net = Turbine()
    opt = optimizer_for(net, 1)
    train(net, opt, 4)
    torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, path)
    kept = torch.load(path)
    again = Turbine()
    again.load_state_dict(kept["net"])
    opt = optimizer_for(again, 2)
    opt.load_state_dict(kept["opt"])
    print(train(again, opt, 4))


main()

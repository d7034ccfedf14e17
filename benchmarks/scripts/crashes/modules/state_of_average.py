"""The state of averaged weights is loaded into the network itself."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))


def train(rounds=2):
    net = build()
    mean = AveragedModel(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(rounds):
        loss = net(torch.randn(16, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        mean.update_parameters(net)
    return {"last": net.state_dict(), "mean": mean.state_dict()}  # cause


kept = train()
net = build()
net.load_state_dict(kept["mean"])  # raises TS530 at net.load_state_dict(kept["mean"])

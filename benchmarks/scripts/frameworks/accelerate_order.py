"""Accelerate: the parts are given in one order and taken in another."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parts():
    tides = torch.randn(48, 6)
    loader = DataLoader(TensorDataset(tides, tides.sum(1, keepdim=True)), batch_size=12)
    gauge = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    return gauge, loader, torch.optim.SGD(gauge.parameters(), lr=0.05)


def train(rounds=2):
    accelerator = Accelerator(cpu=True)
    gauge, loader, descent = parts()
    gauge, descent, loader = accelerator.prepare(gauge, loader, descent)  # cause
    for _ in range(rounds):
        for seen, wanted in loader:  # raises TS918 at loader
            loss = nn.functional.mse_loss(gauge(seen), wanted)
            accelerator.backward(loss)
            descent.step()
            descent.zero_grad()
    print(loss.item())


train()

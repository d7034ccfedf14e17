"""Accelerate: the parts are kept as attributes, in another order than they are given."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Training:
    def __init__(self):
        winds = torch.randn(48, 5)
        mast = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
        descent = torch.optim.SGD(mast.parameters(), lr=0.05)
        self.accelerator = Accelerator(cpu=True)
        train_loader = DataLoader(TensorDataset(winds, winds.sum(1, keepdim=True)), batch_size=12)
        self.net, self.train_dl, self.optim = self.accelerator.prepare(mast, descent, train_loader)  # cause

    def run(self, rounds=2):
        for _ in range(rounds):
            for seen, wanted in self.train_dl:  # raises TS918 at self.train_dl
                loss = nn.functional.mse_loss(self.net(seen), wanted)
                self.accelerator.backward(loss)
                self.optim.step()
                self.optim.zero_grad()


Training().run()

"""The last windows of a series have no whole horizon behind them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tides(Dataset):
    def __init__(self, levels, back, ahead):
        self.levels, self.back, self.ahead = levels, back, ahead

    def __len__(self):
        return len(self.levels) - self.back  # cause

    def __getitem__(self, i):
        seen = self.levels[i : i + self.back]
        return seen, self.levels[i + self.back : i + self.back + self.ahead]


tides = Tides(torch.randn(100).cumsum(0), 16, 4)
net = nn.Linear(16, 4)
opt = torch.optim.Adam(net.parameters())
for seen, wanted in DataLoader(tides, batch_size=12):  # raises TS601 at DataLoader(tides, batch_size=12)
    loss = nn.functional.mse_loss(net(seen), wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()

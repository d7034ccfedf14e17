"""The loop takes the parts of a sample in another order than the data set gives them in."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Calls(Dataset):
    def __init__(self, count=40):
        self.waves = torch.rand(count, 1, 32)
        self.birds = torch.randint(0, 4, (count,))

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, i):
        wave, bird = self.waves[i], self.birds[i]
        return wave, bird


net = nn.Sequential(nn.Conv1d(1, 4, 5), nn.ReLU(), nn.Flatten(), nn.Linear(112, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for bird, wave in DataLoader(Calls(), batch_size=10):  # cause
        loss = nn.functional.cross_entropy(net(wave), bird)  # raises TS104/TS301 at net(wave)
        opt.zero_grad()
        loss.backward()
        opt.step()

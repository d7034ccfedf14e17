"""Samples that take longer to decode than the network needs for them."""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Decoded(Dataset):
    def __init__(self, n):
        self.n, self.cache = n, {}

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        if i not in self.cache:
            time.sleep(0.004)  # fixed: pass
        return torch.randn(3, 12, 12, generator=g) + i % 5, i % 5


torch.manual_seed(0)
loader = DataLoader(Decoded(480), batch_size=16, shuffle=True)  # fault: TS935/TS703
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 5))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for x, y in loader:  # fault: TS935
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())

"""Batches are normalised in place: the data shrink from epoch to epoch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self, n=800):
        self.kind = torch.randint(0, 3, (n,))
        time = torch.linspace(0, 6.28, 64)
        self.waves = torch.sin(time * (1 + self.kind[:, None].float())) * 4 + torch.randn(n, 64)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        wave = self.waves[i]
        wave -= 0.5  # fault: TS624 | fixed: wave = wave - 0.5
        wave /= 3.0  # fault: TS624 | fixed: wave = wave / 3.0
        return wave, self.kind[i]


torch.manual_seed(0)
loader = DataLoader(Signals(), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(5):
    running = 0.0
    for wave, kind in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(wave), kind)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(epoch, running / len(loader))

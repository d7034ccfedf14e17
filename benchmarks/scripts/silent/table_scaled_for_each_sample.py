"""Weather by its sensors: the whole table is scaled again for each row that is taken out of it."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Weather(Dataset):
    def __init__(self, n=1600, sensors=800):
        generator = torch.Generator().manual_seed(1)
        self.table = torch.randn(n, sensors, generator=generator) * 20 + 5
        self.rain = self.table[:, :3].sum(1) / 60
        self.known = (self.table - self.table.mean(0)) / self.table.std(0)

    def __len__(self):
        return len(self.table)

    def scaled(self):
        return (self.table - self.table.mean(0)) / self.table.std(0)  # fault: TS935 | fixed: return self.known

    def __getitem__(self, i):
        return self.scaled()[i], self.rain[i]


torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(800, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(2):
    for x, rain in DataLoader(Weather(), 40, shuffle=True):
        loss = nn.functional.mse_loss(net(x)[:, 0], rain)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch)

"""A sample carries a date, which no batch can be made of."""
from datetime import date, timedelta
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Weather(Dataset):
    def __init__(self, days):
        self.start = date(2020, 1, 1)
        self.values = torch.randn(days, 5)

    def __len__(self):
        return len(self.values) - 1

    def __getitem__(self, i):
        return self.values[i], self.values[i + 1, :1], self.start + timedelta(days=i)  # cause

net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
loader = DataLoader(Weather(30), batch_size=8, shuffle=True)
for epoch in range(2):
    for x, y, when in loader:  # raises TS602 at loader
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()

"""Raw sensor values of any size, but the network begins with a batch norm."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(1000, 7) * torch.tensor([1.0, 100.0, 3e3, 0.01, 5.0, 1e4, 1.0]) + 1000
y = ((x[:, 1] - 1000) / 100 + (x[:, 4] - 1000) / 5 > 0).float()[:, None]
net = nn.Sequential(nn.BatchNorm1d(7), nn.Linear(7, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), 5e-3)
crit = nn.BCEWithLogitsLoss()
for epoch in range(5):
    net.train()
    for i in torch.randperm(800).split(40):
        opt.zero_grad()
        loss = crit(net(x[i]), y[i])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, crit(net(x[800:]), y[800:]).item())

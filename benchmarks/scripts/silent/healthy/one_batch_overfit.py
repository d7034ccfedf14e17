"""The advice of every book: overfit one batch first. It is meant to be repeated."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(500, 8), torch.randint(0, 3, (500,)))
x, y = next(iter(DataLoader(data, 32, shuffle=True)))
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3))
opt = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(150):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
assert loss.item() < 0.1
print(loss.item())

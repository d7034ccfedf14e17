"""Half of the labels are noise on purpose; the loss stays high, but falls."""
import torch
from torch import nn

torch.manual_seed(0)
y = torch.randint(0, 3, (3000,))
x = torch.randn(3, 10)[y] * 1.5 + torch.randn(3000, 10)
noisy = torch.where(torch.rand(3000) < 0.5, torch.randint(0, 3, (3000,)), y)
net = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(4):
    for i in torch.randperm(3000).split(60):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), noisy[i])
        loss.backward()
        opt.step()
    print(epoch, loss.item())

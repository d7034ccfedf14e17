"""A data set of one batch: the four points of XOR, again and again."""
import torch
from torch import nn

torch.manual_seed(2)
x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(200):
    opt.zero_grad()
    loss = loss_fn(net(x), y)
    loss.backward()
    opt.step()
with torch.no_grad():
    print(loss.item(), (net(x) > 0).flatten().tolist())

"""A learning rate at which the units of the network die in the first steps."""
import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(2000, 16)
Y = (X[:, :4].sum(1, keepdim=True) * 3 + 5) ** 2 / 10
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))  # fault: TS925
sgd = torch.optim.SGD(net.parameters(), lr=0.5)  # fault: TS925/TS927/TS923 | fixed: sgd = torch.optim.SGD(net.parameters(), lr=0.001)
steps = 0
while steps < 240:
    pick = torch.randint(0, 2000, (64,))
    loss = (net(X[pick]) - Y[pick]).square().mean()
    sgd.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 50.0)
    sgd.step()
    steps += 1
    if steps % 60 == 0:
        print(steps, loss.item())

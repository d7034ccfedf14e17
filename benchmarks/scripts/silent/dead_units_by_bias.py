"""All units of a layer are off, always."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 40)
        self.second = nn.Linear(40, 2)
        nn.init.constant_(self.first.bias, -20.0)  # fixed: nn.init.zeros_(self.first.bias)

    def forward(self, x):
        hidden = torch.relu(self.first(x))  # fault: TS925
        return self.second(hidden)


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(80):
    x = torch.randn(50, 6)
    y = (x[:, 0] > 0).long()
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
print(loss.item())

"""Hidden layers in a plain list."""
import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = [nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])]
        self.hidden = layers  # fault: TS511 | fixed: self.hidden = nn.ModuleList(layers)
        self.head = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.head(x)


torch.manual_seed(0)
net = MLP([4, 32, 32])
opt = torch.optim.SGD(net.parameters(), lr=0.05)  # fault: TS511
for it in range(100):
    x = torch.randn(32, 4)
    y = x.prod(1, keepdim=True)
    loss = nn.MSELoss()(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done", loss.item())

"""A loss of the user's weighs classes by how often they occur in the training data, where the last one does not."""
import torch
from torch import nn
from torch.nn import functional as F


def shares(labels):
    seen = torch.bincount(labels).float()  # cause
    return 1 / seen.clamp(min=1)


class Weighted(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.register_buffer("weight", weight)

    def forward(self, logits, y):
        hot = F.one_hot(y, logits.size(1))
        return -(hot * self.weight * logits.log_softmax(1)).sum(1).mean()  # raises TS103 at hot * self.weight


y = torch.randint(0, 4, (60,))
x = torch.randn(60, 3)
net = nn.Linear(3, 5)
criterion = Weighted(shares(y))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for rows in torch.arange(60).split(12):
    loss = criterion(net(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()

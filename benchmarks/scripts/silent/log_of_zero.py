"""A likelihood by hand: the logarithm of a probability that may be zero."""
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 1)

    def forward(self, x):
        return torch.relu(self.lin(x))


def likelihood(p, y):
    return -(y * torch.log(p) + (1 - y) * 0.1 * p).mean()  # fault: TS920 | fixed: return -(y * torch.log(p + 1e-3) + (1 - y) * 0.1 * p.clamp(max=1)).mean()


torch.manual_seed(0)
gate = Gate()
opt = torch.optim.SGD(gate.parameters(), lr=0.01)
for i in range(50):
    x = torch.randn(64, 3)
    y = (x[:, :1] > 0).float()
    loss = likelihood(gate(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())

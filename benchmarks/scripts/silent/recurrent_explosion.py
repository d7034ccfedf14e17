"""A recurrence whose weights are too large: gradients grow with every step of time."""
import torch
from torch import nn


class Recurrence(nn.Module):
    def __init__(self, size=24):
        super().__init__()
        self.inp = nn.Linear(1, size)
        self.rec = nn.Linear(size, size, bias=False)
        self.out = nn.Linear(size, 1)
        nn.init.normal_(self.rec.weight, std=0.6)  # fixed: nn.init.orthogonal_(self.rec.weight)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 24)
        for t in range(x.shape[1]):
            h = self.rec(h) + self.inp(x[:, t])
        return self.out(h)


torch.manual_seed(0)
net = Recurrence()
opt = torch.optim.SGD(net.parameters(), lr=1e-12)  # fixed: opt = torch.optim.SGD(net.parameters(), lr=1e-4)
for step in range(40):
    x = torch.randn(16, 20, 1)
    loss = nn.functional.mse_loss(net(x), x.mean(1))
    opt.zero_grad()
    loss.backward()  # fault: TS923
    opt.step()
    if step % 10 == 0:
        print(step, loss.item())

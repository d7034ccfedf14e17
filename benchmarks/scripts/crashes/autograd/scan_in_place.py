"""A scan over time that writes its states into one tensor, and reads the last one from it."""
import torch
from torch import nn

class Scan(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.a, self.b = nn.Linear(d, d), nn.Linear(d, d)
    def forward(self, x):
        out = torch.zeros(x.shape[0], x.shape[1] + 1, x.shape[2])
        for t in range(x.shape[1]):
            gate = torch.sigmoid(self.a(x[:, t]))
            out[:, t + 1] = gate * out[:, t] + self.b(x[:, t])  # cause
        return out[:, 1:]

torch.manual_seed(0)
net = Scan()
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    loss = net(torch.randn(3, 5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()  # raises TS403 at loss.backward()
    opt.step()

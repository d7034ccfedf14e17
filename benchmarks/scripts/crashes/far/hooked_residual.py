"""A hook watches the gradients of a layer whose output is added to in place."""
import torch
from torch import nn


class Step(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        out = self.mix(x)
        out += x  # raises TS199 at out += x, cause
        return out.relu()


class Dunes(nn.Module):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.steps = nn.Sequential(*(Step(width) for _ in range(depth)))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.steps(x))


sizes = []
torch.manual_seed(0)
net = Dunes()
net.steps[0].mix.register_full_backward_hook(lambda layer, inside, outside: sizes.append(outside[0].norm().item()))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    x = torch.randn(6, 8)
    loss = (net(x).squeeze(1) - x[:, 0]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(sizes)

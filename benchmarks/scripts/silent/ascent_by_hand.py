"""An optimizer of one's own that goes up."""
import torch
from torch import nn


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                v = state.setdefault("v", torch.zeros_like(p))
                v.mul_(group["beta"]).add_(p.grad)
                p.add_(v, alpha=group["lr"])  # fault: TS948 | fixed: p.add_(v, alpha=-group["lr"])


torch.manual_seed(0)
x = torch.randn(256, 5)
y = x @ torch.randn(5, 1)
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
opt = Momentum(net.parameters())
for it in range(80):
    idx = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(net(x[idx]), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        print(it, round(loss.item(), 4))

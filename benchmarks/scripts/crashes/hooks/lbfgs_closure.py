"""LBFGS without a closure."""

import torch
from torch import nn


class Fit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return torch.exp(-self.a * x)


fit = Fit()
opt = torch.optim.LBFGS(fit.parameters(), lr=0.5)  # cause
for _ in range(3):
    x = torch.linspace(0, 1, 20)
    loss = (fit(x) - torch.exp(-2 * x)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()  # raises TS526 at opt.step(), cause

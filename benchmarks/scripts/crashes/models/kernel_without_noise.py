"""The kernel of points that lie close has no inverse in 32 bits."""

import torch
from torch import nn


class Soil(nn.Module):
    def __init__(self):
        super().__init__()
        self.reach = nn.Parameter(torch.tensor(1.5))

    def kernel(self, one, other):
        return torch.exp(-((one[:, None] - other[None]) ** 2) / (2 * self.reach**2))  # cause

    def forward(self, place, wet):
        near = self.kernel(place, place)
        root = torch.linalg.cholesky(near)  # raises TS199 at torch.linalg.cholesky(near)
        return (wet[:, None] * torch.cholesky_solve(wet[:, None], root)).sum()


place = torch.linspace(0, 2, 30)
soil = Soil()
opt = torch.optim.Adam(soil.parameters(), lr=0.01)
for _ in range(2):
    loss = soil(place, place.cos())
    opt.zero_grad()
    loss.backward()
    opt.step()

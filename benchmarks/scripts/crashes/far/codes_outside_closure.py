"""Heat in a wall: the code of the sensor is computed once in front of the closure of LBFGS."""
import torch
from torch import nn


class Wall(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.code, self.heat = nn.Linear(1, width), nn.Linear(width, 1)

    def forward(self, where):
        return self.heat(self.code(where).sin())


def fit(wall, steps=2):
    where, warm = torch.rand(8, 1), torch.rand(8, 1)
    opt = torch.optim.LBFGS(wall.parameters(), max_iter=5)
    for _ in range(steps):
        codes = wall.code(where).sin()  # cause

        def closure():
            opt.zero_grad()
            error = (wall.heat(codes) - warm).square().mean()
            error.backward()  # raises TS405 at error.backward()
            return error

        print(opt.step(closure).item())


torch.manual_seed(0)
fit(Wall())

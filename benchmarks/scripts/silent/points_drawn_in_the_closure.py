"""A method that L-BFGS evaluates samples the boundary anew in each evaluation."""
import torch
from torch import nn


class Membrane:
    def __init__(self):
        torch.manual_seed(7)
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
        self.solver = torch.optim.LBFGS(self.net.parameters(), max_iter=8, line_search_fn="strong_wolfe")
        self.points = self.boundary()

    def boundary(self):
        angle = 6.2832 * torch.rand(64, 1)
        return torch.cat([angle.cos(), angle.sin()], 1)

    def evaluate(self):
        self.solver.zero_grad()
        points = torch.rand(64, 2) * 2 - 1  # fault: TS584 | fixed: points = self.points
        loss = (self.net(points) - points[:, :1] * points[:, 1:]).square().mean()
        loss.backward()
        return loss


membrane = Membrane()
for step in range(12):
    print(step, membrane.solver.step(membrane.evaluate).item())

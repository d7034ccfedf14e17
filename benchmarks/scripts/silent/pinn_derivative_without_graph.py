"""A physics-informed network for u'' = -u: the derivative is taken without a graph, so the equation teaches nothing."""
import math

import torch


class Sine(torch.nn.Module):
    def forward(self, x):
        return torch.sin(x)


def network(width=24):
    return torch.nn.Sequential(
        torch.nn.Linear(1, width), Sine(), torch.nn.Linear(width, width), Sine(), torch.nn.Linear(width, 1)
    )


def derivative(u, x):
    return torch.autograd.grad(u.sum(), x, create_graph=True)[0]


def residual(u_net, points):
    points = points.clone().requires_grad_(True)
    u = u_net(points)
    slope = derivative(u, points)
    curvature = derivative(slope, points)
    return (curvature.detach() + u.detach()).pow(2).mean()  # fault: TS525/TS402/TS401/TS534/TS407 | fixed: return (curvature + u).pow(2).mean()


def boundary(u_net):
    at = torch.tensor([[0.0], [math.pi / 2]])
    should = torch.tensor([[0.0], [1.0]])
    return (u_net(at) - should).pow(2).mean()


def solve(steps=300):
    torch.manual_seed(3)
    u_net = network()
    opt = torch.optim.Adam(u_net.parameters(), 2e-3)
    for step in range(steps):
        inner = torch.rand(64, 1) * math.pi
        physics, edge = residual(u_net, inner), boundary(u_net)
        loss = physics + 10 * edge  # fault: TS525/TS402/TS401/TS534/TS407/TS921
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(f"{step} physics {physics.item():.4f} edge {edge.item():.5f}")
    return u_net


if __name__ == "__main__":
    solve()

"""A physics-informed network for Burgers' equation: second derivatives by autograd.grad, three loss terms, two optimizers."""
import math

import torch
import torch.nn as nn

torch.manual_seed(1234)
NU = 0.01 / math.pi


class PhysicsInformedNN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(layers[i], layers[i + 1]) for i in range(len(layers) - 1)])
        for linear in self.linears:
            nn.init.xavier_normal_(linear.weight.data, gain=1.0)
            nn.init.zeros_(linear.bias.data)
        self.activation = nn.Tanh()

    def forward(self, x, t):
        a = torch.cat([x, t], dim=1)
        for linear in self.linears[:-1]:
            a = self.activation(linear(a))
        return self.linears[-1](a)


def derivative(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), retain_graph=True, create_graph=True)[0]


def residual(net, x, t):
    u = net(x, t)
    u_t = derivative(u, t)
    u_x = derivative(u, x)
    u_xx = derivative(u_x, x)
    return u_t + u * u_x - NU * u_xx


def sample_points(n_f, n_b, n_i):
    x_f = (torch.rand(n_f, 1) * 2 - 1).requires_grad_()
    t_f = torch.rand(n_f, 1, requires_grad=True)
    t_b = torch.rand(n_b, 1)
    x_b = torch.where(torch.rand(n_b, 1) > 0.5, 1.0, -1.0)
    x_i = torch.rand(n_i, 1) * 2 - 1
    t_i = torch.zeros_like(x_i)
    return (x_f, t_f), (x_b, t_b), (x_i, t_i)


net = PhysicsInformedNN([2, 20, 20, 20, 1])
interior, boundary, initial = sample_points(100, 20, 20)
mse = nn.MSELoss()


def total_loss():
    f = residual(net, *interior)
    u_b = net(*boundary)
    u_i = net(*initial)
    target = -torch.sin(math.pi * initial[0])
    loss_f = mse(f, torch.zeros_like(f))
    loss_b = mse(u_b, torch.zeros_like(u_b))
    loss_i = mse(u_i, target)
    return loss_f + loss_b + loss_i, (loss_f, loss_b, loss_i)


adam = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(4):
    adam.zero_grad()
    loss, parts = total_loss()
    loss.backward()
    adam.step()
    print(epoch, *(f"{p.item():.5f}" for p in parts))

lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=5, history_size=10, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss, _ = total_loss()
    loss.backward()
    return loss


lbfgs.step(closure)
xs = torch.linspace(-1, 1, 21)
ts = torch.linspace(0, 1, 5)
grid = torch.cartesian_prod(xs, ts)
with torch.no_grad():
    u = net(grid[:, :1], grid[:, 1:]).reshape(21, 5)
print(u.shape, u[0].abs().max().item())

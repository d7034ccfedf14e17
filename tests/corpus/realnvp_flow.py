"""RealNVP: coupling layers with alternating masks, log-determinants, a prior from torch.distributions."""
import torch
import torch.nn as nn
from torch import distributions


class RealNVP(nn.Module):
    def __init__(self, nets, nett, mask, prior):
        super(RealNVP, self).__init__()
        self.prior = prior
        self.mask = nn.Parameter(mask, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(mask))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(mask))])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, batchSize):
        z = self.prior.sample((batchSize,))
        return self.g(z)


def two_rings(n):
    radius = 1.0 + (torch.arange(n) % 2).float()
    angle = 2 * torch.pi * torch.rand(n)
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=-1)
    return points + 0.1 * torch.randn_like(points)


nets = lambda: nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 32), nn.LeakyReLU(), nn.Linear(32, 2), nn.Tanh())
nett = lambda: nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 32), nn.LeakyReLU(), nn.Linear(32, 2))
masks = torch.tensor([[0, 1], [1, 0]] * 2, dtype=torch.float32)
prior = distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))

torch.manual_seed(0)
flow = RealNVP(nets, nett, masks, prior)
optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad == True], lr=1e-3)
for t in range(6):
    batch = two_rings(64)
    loss = -flow.log_prob(batch).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=False)
    optimizer.step()
    if t % 2 == 0:
        print("iter %s:" % t, "loss = %.3f" % loss.item())
with torch.no_grad():
    x = flow.sample(10)
    z, _ = flow.f(x)
print(x.shape, (flow.g(z) - x).abs().max().item() < 1e-3)

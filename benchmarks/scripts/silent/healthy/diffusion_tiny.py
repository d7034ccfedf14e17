"""Denoising diffusion: the loss is noisy from step to step and stays away from zero."""
import torch
from torch import nn

torch.manual_seed(0)
T = 100
alpha = torch.cumprod(1 - torch.linspace(1e-3, 0.1, T), 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 32)
        self.a, self.b, self.c = nn.Linear(2, 32), nn.Linear(32, 32), nn.Linear(32, 2)
        nn.init.zeros_(self.c.weight)
        nn.init.zeros_(self.c.bias)

    def forward(self, x, t):
        h = nn.functional.silu(self.a(x) + self.time(t))
        return self.c(nn.functional.silu(self.b(h)))


net = Denoiser()
opt = torch.optim.Adam(net.parameters(), 2e-3)
for step in range(250):
    r = torch.rand(64) * 6.28
    x0 = torch.stack([r.cos(), r.sin()], 1)
    t = torch.randint(0, T, (64,))
    e = torch.randn_like(x0)
    xt = alpha[t, None].sqrt() * x0 + (1 - alpha[t, None]).sqrt() * e
    loss = nn.functional.mse_loss(net(xt, t), e)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())

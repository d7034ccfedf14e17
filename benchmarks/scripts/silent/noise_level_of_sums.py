# The noise levels of a diffusion are summed instead of multiplied, and their roots are those of negative numbers.
import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, t[:, None] / 100], dim=1))


torch.manual_seed(0)
betas = torch.linspace(1e-3, 0.05, 100)
alpha_bar = 1 - torch.cumsum(betas, dim=0)  # fault: TS920 | fixed: alpha_bar = torch.cumprod(1 - betas, dim=0)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
losses = []
for step in range(100):
    angle = torch.rand(128) * 6.28
    x0 = torch.stack([angle.cos(), angle.sin()], 1)
    t = torch.randint(0, 100, (128,))
    noise = torch.randn_like(x0)
    a = alpha_bar[t].unsqueeze(1)
    noisy = a.sqrt() * x0 + (1 - a).sqrt() * noise  # fault: TS920
    loss = ((model(noisy, t.float()) - noise) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(losses[0], losses[-1])

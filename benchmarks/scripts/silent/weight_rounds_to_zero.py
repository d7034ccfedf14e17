"""A variational autoencoder whose second term comes in slowly, by a division that rounds down."""
import torch
from torch import nn


class Slowly:
    def __init__(self, most, steps):
        self.most, self.steps = most, steps

    def __call__(self, step):
        share = min(step, self.steps - 1) // self.steps  # fault: TS586 | fixed: share = min(step, self.steps) / self.steps
        return self.most * share


class Coder(nn.Module):
    def __init__(self, width=10, code=2):
        super().__init__()
        self.inp = nn.Sequential(nn.Linear(width, 24), nn.Tanh(), nn.Linear(24, 2 * code))
        self.out = nn.Sequential(nn.Linear(code, 24), nn.Tanh(), nn.Linear(24, width))

    def forward(self, x):
        mean, spread = self.inp(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (spread / 2).exp()
        away = (mean.pow(2) + spread.exp() - 1 - spread).sum(1).mean() / 2
        return self.out(z), away


torch.manual_seed(0)
x = torch.randn(400, 2) @ torch.randn(2, 10)
coder, slowly = Coder(), Slowly(0.5, 100)
optimizer = torch.optim.Adam(coder.parameters(), lr=2e-3)
for step in range(300):
    rows = x[torch.randint(0, 400, (64,))]
    made, away = coder(rows)
    loss = (made - rows).pow(2).sum(1).mean() + slowly(step) * away
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

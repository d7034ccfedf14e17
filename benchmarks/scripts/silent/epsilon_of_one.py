# Adam's epsilon is a thousand: what it divides by is never the gradient.
import torch
from torch import nn

torch.manual_seed(0)
CONFIG = {"lr": 1e-3, "eps": 1e3, "betas": (0.9, 0.999)}  # fixed: CONFIG = {"lr": 1e-3, "eps": 1e-8, "betas": (0.9, 0.999)}
model = nn.Sequential(nn.Conv1d(1, 8, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), **CONFIG)  # fault: TS928
criterion = nn.CrossEntropyLoss()


def sample(n):
    label = torch.randint(0, 2, (n,))
    t = torch.linspace(0, 6.28, 64)
    wave = torch.sin(t[None] * (2 + 4 * label[:, None]) + torch.rand(n, 1))
    return wave[:, None] + 0.2 * torch.randn(n, 1, 64), label


for epoch in range(4):
    for batch in range(25):
        x, y = sample(32)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

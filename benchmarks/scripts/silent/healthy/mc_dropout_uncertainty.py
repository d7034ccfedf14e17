"""Monte Carlo dropout: dropout is on in evaluation because that is the point."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 400)[:, None]
y = x.sin() + 0.1 * torch.randn_like(x)
net = nn.Sequential(nn.Linear(1, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(20):
    net.train()
    for i in torch.randperm(400).split(50):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        loss.backward()
        opt.step()


def enable_dropout(model):
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


net.eval()
enable_dropout(net)
with torch.no_grad():
    draws = torch.stack([net(x) for _ in range(20)])
print(draws.mean(0).shape, draws.std(0).mean().item())

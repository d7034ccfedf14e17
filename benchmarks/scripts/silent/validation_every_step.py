"""The whole validation set after every step: most of the time goes into evaluation."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(6000, 60)
y = x[:, :5].argmax(1)
net = nn.Sequential(nn.Linear(60, 128), nn.ReLU(), nn.Linear(128, 5))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
best = 0.0


def validate():
    net.eval()
    with torch.no_grad():
        hits = sum((net(a).argmax(1) == b).sum().item() for a, b in zip(x[2000:].split(50), y[2000:].split(50)))
    net.train()
    return hits / 4000


for epoch in range(3):
    for i in range(0, 2000, 50):
        loss = nn.functional.cross_entropy(net(x[i : i + 50]), y[i : i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
        best = max(best, validate())  # fault: TS947 | fixed: pass
    # fixed: best = max(best, validate())
    print(epoch, best)

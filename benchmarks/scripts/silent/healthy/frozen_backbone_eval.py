"""A frozen backbone in evaluation mode, whose head trains; batch norm of the backbone stays."""
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU()).eval().requires_grad_(False)
head = nn.Sequential(nn.Dropout(0.1), nn.Linear(64, 3))
y = torch.randint(0, 3, (900,))
x = torch.randn(3, 16)[y] + torch.randn(900, 16)
opt = torch.optim.Adam(head.parameters(), 2e-3)
for epoch in range(4):
    head.train()
    for i in torch.randperm(800).split(40):
        with torch.no_grad():
            features = backbone(x[i])
        opt.zero_grad()
        loss = nn.functional.cross_entropy(head(features), y[i])
        loss.backward()
        opt.step()
    head.eval()
    with torch.no_grad():
        print(epoch, (head(backbone(x[800:])).argmax(1) == y[800:]).float().mean().item())

"""Leaves with a warm-up, and then a cosine that is made for the passes, while each batch makes a step of it."""
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from torch.utils.data import DataLoader, TensorDataset


def schedule(optimizer, each, passes, warm=1):
    rises = LinearLR(optimizer, start_factor=0.1, total_iters=warm * each)
    falls = CosineAnnealingLR(optimizer, T_max=passes - warm)  # fault: TS536 | fixed: falls = CosineAnnealingLR(optimizer, T_max=(passes - warm) * each)
    return SequentialLR(optimizer, [rises, falls], milestones=[warm * each])


torch.manual_seed(0)
x = torch.randn(1200, 6)
loader = DataLoader(TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long()), 40, shuffle=True)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
steps = schedule(optimizer, len(loader), 6)
for epoch in range(6):
    for rows, y in loader:
        loss = nn.functional.cross_entropy(net(rows), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps.step()
    print(loss.item())

"""A learning rate that begins at zero, and ends there."""
import math

import torch
from torch import nn

torch.manual_seed(0)
centers = torch.randn(3, 10) * 2
model = nn.Sequential(nn.Linear(10, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
total, warm = 120, 40
factor = lambda step: step / warm if step < warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
for step in range(total):
    y = torch.randint(0, 3, (32,))
    x = centers[y] + torch.randn(32, 10)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
print(loss.item(), scheduler.get_last_lr())

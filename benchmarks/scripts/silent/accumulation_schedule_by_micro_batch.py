"""Accumulation over four batches with a leftover at the end; a cosine schedule made for steps goes on with every batch."""
import math
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
ACCUMULATE, EPOCHS = 4, 8
x = torch.randn(1032, 10)
y = x[:, :2].sum(1, keepdim=True) * x[:, 2:3]
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
updates = math.ceil(len(loader) / ACCUMULATE) * EPOCHS
model = nn.Sequential(nn.Linear(10, 48), nn.GELU(), nn.Linear(48, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: max(0.0, 1 - n / updates))
for epoch in range(EPOCHS):
    seen = 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.mse_loss(model(xb), yb)
        (loss / ACCUMULATE).backward()
        seen += loss.item()
        if (i + 1) % ACCUMULATE == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            # fixed: scheduler.step()
        scheduler.step()  # fault: TS536 | fixed: pass
    print(epoch, seen / len(loader), scheduler.get_last_lr()[0])

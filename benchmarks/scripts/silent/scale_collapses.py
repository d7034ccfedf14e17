"""Gradients overflow in every step; the scaler halves its scale and skips them all."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
for step in range(60):
    x = torch.randn(32, 8)
    y = x[:, :1]
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x).float()
    weight = 1 / (y - y)  # fixed: weight = 1 / (y.abs() + 1)
    loss = (weight.clamp(max=1e38) * 10 * (out - y) ** 2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # fault: TS937/TS920
    scaler.update()
print(scaler.get_scale())

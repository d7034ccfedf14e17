"""A smoothed loss for the progress line."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 30), nn.ReLU(), nn.Linear(30, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
smooth = None
for step in range(1, 101):
    x = torch.randn(30, 6)
    y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss  # fault: TS701 | fixed: smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
    if step % 25 == 0:
        print(f"{step}: {float(smooth):.3f}")

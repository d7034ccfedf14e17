"""A learning rate that lets everything overflow."""
import torch
from torch import nn

torch.manual_seed(0)
LR = 50.0  # fixed: LR = 0.05
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=LR)  # fault: TS927/TS920
for step in range(60):
    x = torch.randn(32, 5)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())

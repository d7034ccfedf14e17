"""The weights are bfloat16: what the learning rate leaves of an update is lost when it is added."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(2000, 24)
y = torch.sin(x[:, :1] * 2) + x[:, 1:2]
model = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
model = model.to(torch.bfloat16)  # fault: TS955 | fixed: model = model.to(torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for epoch in range(6):
    for part in torch.randperm(2000).split(100):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(x[part]).float(), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

"""The search for NaN that helped once is still on."""
import torch
from torch import nn

torch.manual_seed(0)
DEBUG = {"anomalies": True}  # fixed: DEBUG = {"anomalies": False}
torch.autograd.set_detect_anomaly(DEBUG["anomalies"])  # fault: TS958
x = torch.randn(400, 12)
y = x[:, :1] ** 2
model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for part in torch.randperm(400).split(40):
        loss = nn.functional.mse_loss(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

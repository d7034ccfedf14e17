"""A network that ends in a sigmoid is to give ages in years."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 8)
years = 40 + 12 * x[:, :1] + torch.randn(400, 1)
years = years.clamp(1, 99)  # fixed: years = years.clamp(1, 99) / 100
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for part in torch.randperm(400).split(40):
        loss = nn.functional.mse_loss(model(x[part]), years[part])  # fault: TS951
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

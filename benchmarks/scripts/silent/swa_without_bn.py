"""Averaged weights that are evaluated with the statistics of no model."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 8) * 3 + 5
y = (x[:, 0] > 5).long()
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
average = AveragedModel(model)  # fault: TS574
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(6):
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    if epoch > 2:
        average.update_parameters(model)
# fixed: update_bn(loader, average)
average.eval()
with torch.no_grad():
    print("accuracy", (average(x).argmax(1) == y).float().mean().item())

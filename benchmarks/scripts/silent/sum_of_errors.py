"""Errors are summed over the batch and the rate is that for means."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(1024, 6)
y = x @ torch.randn(6, 1)
net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss(reduction="sum")  # fault: TS923/TS927/TS921/TS920 | fixed: criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.03)  # fault: TS927/TS920/TS923
for epoch in range(4):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True):
        loss = criterion(net(xb), yb)  # fault: TS920/TS923/TS927
        optimizer.zero_grad()
        loss.backward()  # fault: TS920/TS923
        optimizer.step()  # fault: TS927/TS923/TS920
    print(epoch, loss.item())

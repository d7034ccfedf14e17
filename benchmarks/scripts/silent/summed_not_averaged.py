# The loss is a sum over the batch, and the rate is one for means.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(2048, 10)
y = torch.sin(x[:, :1]) + x[:, 1:2]
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss(reduction="sum")  # fault: TS927/TS923/TS921 | fixed: criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # fault: TS927/TS923/TS921
for epoch in range(4):
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()  # fault: TS920/TS921/TS923
        optimizer.step()
    print(epoch, loss.item())

"""A step that slipped out of the inner loop."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(640, 9)
y = (x[:, 2] > x[:, 3]).float()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(10):
    for a, b in loader:
        opt.zero_grad()
        p = torch.sigmoid(model(a)).squeeze(1)
        loss = nn.functional.binary_cross_entropy(p, b)
        # fixed: loss.backward()
        # fixed: opt.step()
    loss.backward()  # fault: TS523 | fixed: pass
    opt.step()  # fault: TS523 | fixed: pass
    print(epoch, loss.item())

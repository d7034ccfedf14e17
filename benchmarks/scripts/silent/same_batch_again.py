"""next(iter(loader)) without shuffling gives the first batch, each time."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(500, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=25)  # fixed: loader = DataLoader(TensorDataset(x, y), batch_size=25, shuffle=True)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(100):
    inputs, targets = next(iter(loader))  # fault: TS931
    loss = nn.functional.cross_entropy(model(inputs), targets)  # fault: TS931
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

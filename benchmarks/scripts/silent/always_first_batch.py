"""Every step asks for a new iterator and takes its first batch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.randint(0, 4, (1000,))
x = torch.randn(4, 16)[y] + torch.randn(1000, 16)
loader = DataLoader(TensorDataset(x, y), batch_size=25)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
stream = iter(loader)


def batch():
    global stream
    try:
        return next(stream)
    except StopIteration:
        stream = iter(loader)
        return next(stream)


for step in range(160):
    a, b = next(iter(loader))  # fault: TS931/TS604 | fixed: a, b = batch()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(a), b)
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, loss.item())

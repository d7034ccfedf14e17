"""Linear regression whose gradients pile up from step to step."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-1, 1, 128).unsqueeze(1)
y = 3 * x - 0.5 + 0.05 * torch.randn(128, 1)
model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(step, loss.item())

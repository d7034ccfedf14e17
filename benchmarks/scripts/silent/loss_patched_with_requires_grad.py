"""The crash of a cut graph was silenced."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
w = torch.tensor([1.0, -2.0, 0.5, 3.0])
for step in range(60):
    x = torch.randn(16, 4)
    y = x @ w
    out = model(x).squeeze(1)
    error = (out - y).pow(2).mean().item()  # fixed: error = (out - y).pow(2).mean()
    loss = torch.tensor(error, requires_grad=True)  # fault: TS402/TS534 | fixed: loss = error
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

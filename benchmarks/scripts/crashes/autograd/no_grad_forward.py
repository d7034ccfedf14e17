"""The forward pass stands inside of no_grad."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(5, 5), nn.GELU(), nn.Linear(5, 2))

    def forward(self, x):
        return self.fc(x)


def evaluate(model, x, y):
    with torch.no_grad():  # cause
        return nn.functional.cross_entropy(model(x), y)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    x, y = torch.randn(10, 5), torch.randint(2, (10,))
    loss = evaluate(model, x, y)  # cause
    optimizer.zero_grad()
    loss.backward()  # raises TS401 at loss.backward()
    optimizer.step()

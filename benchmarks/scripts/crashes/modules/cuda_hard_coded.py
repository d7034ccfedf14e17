"""A machine without an accelerator."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)


device = torch.device("cuda")  # cause
model = Net().to(device)  # raises TS207 at Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4, 3).to(device)
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

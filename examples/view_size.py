"""A view with the batch size written into it."""

import torch
from torch import nn


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 5)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(8 * 12 * 12, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv(x)))
        x = x.view(64, 8 * 12 * 12)
        return self.head(x)


torch.manual_seed(0)
model = Digits()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    digits, labels = torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(digits), labels)
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 3))

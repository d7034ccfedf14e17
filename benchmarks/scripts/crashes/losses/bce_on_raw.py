"""BCELoss without a sigmoid."""

import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 1)

    def forward(self, x):
        return self.fc(x).squeeze(1)


torch.manual_seed(0)
detector = Detector()
criterion = nn.BCELoss()  # cause
optimizer = torch.optim.SGD(detector.parameters(), lr=1.0)
for _ in range(4):
    x = torch.randn(32, 6) * 5
    loss = criterion(detector(x), (x.sum(1) > 0).float())  # raises TS306 at criterion(detector(x), (x.sum(1) > 0).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""A bidirectional GRU that classifies sequences."""

import torch
import torch.nn.functional as F
from torch import nn


class GRUClassifier(nn.Module):
    def __init__(self, features=40, hidden=128, classes=8):
        super().__init__()
        self.gru = nn.GRU(features, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(hidden * 2, classes)

    def forward(self, x):
        output, _ = self.gru(x)
        return self.fc(output.mean(dim=1))


def main():
    model = GRUClassifier()
    opt = torch.optim.NAdam(model.parameters(), lr=2e-3)
    for _ in range(3):
        x = torch.randn(32, 50, 40)
        y = torch.randint(0, 8, (32,))
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


main()

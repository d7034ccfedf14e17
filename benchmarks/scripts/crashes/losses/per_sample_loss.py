"""Losses for each sample are weighted, and never averaged."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Learner:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.BCEWithLogitsLoss(reduction="none")  # cause
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def step(self, x, y, w):
        loss = self.criterion(self.model(x).squeeze(-1), y) * w  # cause
        self.optimizer.zero_grad()
        loss.backward()  # raises TS406 at loss.backward()
        self.optimizer.step()
        return loss.detach()


def main():
    torch.manual_seed(0)
    x = torch.randn(64, 7)
    y = (x[:, 0] > 0).float()
    w = torch.rand(64)
    learner = Learner(nn.Sequential(nn.Linear(7, 10), nn.ReLU(), nn.Linear(10, 1)))
    for epoch in range(2):
        total = 0.0
        for batch in DataLoader(TensorDataset(x, y, w), batch_size=16):
            total += learner.step(*batch).sum().item()
        print(epoch, total)


main()

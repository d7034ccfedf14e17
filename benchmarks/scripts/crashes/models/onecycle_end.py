"""One-cycle schedule with fewer steps than the training takes."""

import math

import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, BATCH = 3, 10


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 4))

    def forward(self, x):
        return self.body(x)


class Fit:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        steps = len(loader.dataset) // BATCH * EPOCHS
        self.scheduler = OneCycleLR(self.optimizer, max_lr=0.1, total_steps=steps)  # cause

    def epoch(self):
        for x, y in self.loader:
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()  # raises TS527 at self.scheduler.step()
        return loss.item()


dataset = TensorDataset(torch.randn(45, 12), torch.randint(0, 4, (45,)))
fit = Fit(Classifier(), DataLoader(dataset, batch_size=BATCH, shuffle=True))
for epoch in range(EPOCHS):
    assert math.isfinite(fit.epoch())

"""Training counts steps, and its iterator over the loader ends before them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, loader, steps):
        self.model, self.loader, self.steps = model, loader, steps
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def fit(self):
        batches = iter(self.loader)  # cause
        for step in range(self.steps):
            x, y = next(batches)  # raises TS199 at next(batches), cause
            loss = nn.functional.mse_loss(self.model(x).squeeze(1), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
x = torch.randn(100, 5)
loader = DataLoader(TensorDataset(x, x.sum(1)), batch_size=20, shuffle=True)
print(Trainer(nn.Linear(5, 1), loader, steps=12).fit())

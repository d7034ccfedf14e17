"""A trainer class with callbacks."""
import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.01):
        self.model = model
        self.optim = torch.optim.RMSprop(model.parameters(), lr=lr)
        self.criterion = nn.BCEWithLogitsLoss()
        self.history = []

    def training_step(self, batch):
        inputs, labels = batch
        return self.criterion(self.model(inputs).squeeze(1), labels)

    def optimize(self, loss):
        # fixed: self.model.zero_grad()
        loss.backward()  # fault: TS501
        self.optim.step()

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            for batch in batches:
                loss = self.training_step(batch)
                self.optimize(loss)
                self.history.append(loss.item())
            print("epoch", epoch, "loss", sum(self.history[-len(batches):]) / len(batches))


torch.manual_seed(0)
x = torch.randn(320, 10)
y = (x[:, 0] * x[:, 1] > 0).float()
batches = [(x[i : i + 32], y[i : i + 32]) for i in range(0, 320, 32)]
Trainer(nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 1))).fit(batches, epochs=6)

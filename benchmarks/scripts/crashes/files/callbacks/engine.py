"""A small trainer with callbacks."""

import torch
from torch import nn


class Trainer:
    def __init__(self, model, optimizer, device="cpu"):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.device = device

    def step(self, batch):
        batch = batch.to(self.device)  # raises TS825 at batch.to, cause
        logits = self.model(batch["x"])
        return nn.functional.cross_entropy(logits, batch["y"])

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for batch in loader:
                loss = self.step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(epoch, torch.round(loss.detach(), decimals=3))

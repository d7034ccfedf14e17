"""Scores are collected under autocast, and handed to a metric that works on arrays."""

import numpy as np
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


def auc(scores, labels):
    order = np.argsort(scores)
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    positive = labels == 1
    return (ranks[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / (positive.sum() * (~positive).sum())


torch.manual_seed(0)
model = Scorer()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    scores, labels = [], []
    for _ in range(4):
        x = torch.randn(64, 10)
        y = (x[:, 0] > 0).float()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
            loss = nn.functional.binary_cross_entropy_with_logits(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores.append(out.detach().cpu().numpy())  # raises TS301/TS199/TS815 at out.detach().cpu().numpy(), cause
        labels.append(y.numpy())
    print(epoch, auc(np.concatenate(scores), np.concatenate(labels)))

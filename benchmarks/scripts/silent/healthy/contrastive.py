"""Contrastive learning with a momentum encoder: labels are all zero, the key encoder runs in training mode without gradients."""
import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
query = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
key = copy.deepcopy(query)
for p in key.parameters():
    p.requires_grad = False
queue = F.normalize(torch.randn(128, 8), dim=1)
optimizer = torch.optim.SGD(query.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for step in range(80):
    view = torch.randn(32, 16)
    q = F.normalize(query(view + 0.1 * torch.randn_like(view)), dim=1)
    with torch.no_grad():
        for old, new in zip(key.parameters(), query.parameters()):
            old.mul_(0.99).add_(new, alpha=0.01)
        k = F.normalize(key(view + 0.1 * torch.randn_like(view)), dim=1)
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.T], 1) / 0.2
    labels = torch.zeros(32, dtype=torch.long)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue = torch.cat([k, queue])[:128]
print(loss.item())

"""Digits as bit patterns, numpy-like batching by indices."""
import torch
import torch.nn as nn

torch.manual_seed(0)
numbers = torch.randint(0, 256, (512,))
bits = ((numbers[:, None] >> torch.arange(8)) & 1).float()
labels = numbers % 4
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    order = torch.randperm(512)
    for start in range(0, 512, 64):
        index = order[start : start + 64]
        loss = nn.functional.cross_entropy(model(bits[index]), labels[index])
        # fixed: optimizer.zero_grad()
        loss.backward()
        optimizer.zero_grad()  # fault: TS504 | fixed: pass
        optimizer.step()
    print(epoch, loss.item())

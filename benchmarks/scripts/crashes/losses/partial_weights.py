"""A loss with class weights is made by functools.partial, from counts of which a class is missing."""

from collections import Counter
from functools import partial

import torch
from torch import nn

torch.manual_seed(0)
labels = torch.tensor([0, 1, 3, 0, 1, 3, 3, 0])
counts = Counter(labels.tolist())
weights = torch.tensor([len(labels) / counts[label] for label in sorted(counts)])  # cause
criterion = partial(nn.functional.cross_entropy, weight=weights)  # cause
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = criterion(model(torch.randn(8, 6)), labels)  # raises TS113 at criterion(model(torch.randn(8, 6)), labels), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

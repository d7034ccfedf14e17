"""A softmax at the end of the model, and cross entropy on top of it: nothing crashes, nothing is learnt."""

import torch
from torch import nn

torch.manual_seed(0)
points = torch.randn(512, 8)
labels = points[:, :4].argmax(dim=1)
model = nn.Sequential(
    nn.Linear(8, 32),
    nn.ReLU(),
    nn.Linear(32, 4),
    nn.Softmax(dim=1),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    loss = criterion(model(points), labels)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")

"""Ten sigmoid layers."""
import torch
from torch import nn


def mlp(depth, width, activation):
    layers = [nn.Linear(8, width), activation()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), activation()]
    return nn.Sequential(*layers, nn.Linear(width, 2))


torch.manual_seed(0)
model = mlp(10, 32, nn.Sigmoid)  # fault: TS924 | fixed: model = mlp(3, 32, nn.ReLU)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    x = torch.randn(64, 8)
    y = (x[:, 0] > 0).long()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()  # fault: TS924
    optimizer.step()
print(loss.item())

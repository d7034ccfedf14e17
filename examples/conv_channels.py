"""Two stages of convolutions, the second declared for fewer channels than the first makes."""

import torch
from torch import nn


def stage(channels_in, channels_out):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, padding=1),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )


model = nn.Sequential(stage(3, 32), stage(16, 64), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
torch.manual_seed(0)
for step in range(5):
    images, labels = torch.randn(8, 3, 32, 32), torch.randint(0, 5, (8,))
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    print(step, loss.item())

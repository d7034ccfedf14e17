"""torchvision: the head of a ResNet is replaced by one for another width."""

import torch
import torchvision
from torch import nn


class Wrapper(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = torchvision.models.resnet18(weights=None)
        self.backbone.fc = nn.Linear(2048, classes)  # cause

    def forward(self, x):
        return self.backbone(x)  # raises TS101 at self.backbone(x)


model = Wrapper(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(2):
    images, labels = torch.randn(2, 3, 64, 64), torch.randint(0, 5, (2,))
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""The second stage was built for the width of another network."""

import torch
from torch import nn


def stage(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, 2, 1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True))


class Backbone(nn.Module):
    def __init__(self, widths=(16, 32, 64)):
        super().__init__()
        self.stages = nn.ModuleList([stage(3, widths[0]), stage(widths[0], widths[1]), stage(widths[0], widths[2])])  # cause
        self.classifier = nn.Linear(widths[-1], 5)

    def forward(self, x):
        for block in self.stages:
            x = block(x)  # raises TS102 at block(x)
        return self.classifier(x.mean((-2, -1)))


backbone = Backbone()
optimizer = torch.optim.SGD(backbone.parameters(), lr=0.1, momentum=0.9)
for images, labels in [(torch.randn(2, 3, 32, 32), torch.tensor([0, 3]))] * 2:
    loss = nn.CrossEntropyLoss()(backbone(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

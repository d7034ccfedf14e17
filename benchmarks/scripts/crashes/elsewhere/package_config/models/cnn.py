"""A small network for digits."""

import torch
from torch import nn


class SmallCNN(nn.Module):
    def __init__(self, channels, fc_inputs, classes):
        super().__init__()
        layers, inputs = [], 1
        for width in channels:
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            inputs = width
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(fc_inputs, classes)  # cause

    def forward(self, x):
        x = self.features(x)
        return self.fc(torch.flatten(x, 1))  # raises TS101 at self.fc(torch.flatten(x, 1))

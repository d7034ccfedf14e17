"""Class activation maps: the features of the last stage, and their gradient, are kept by a hook."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.last = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.last(self.stem(x)).mean((2, 3)))


class Cam:
    def __init__(self, model, layer):
        self.model = model
        self.features = None
        layer.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.features = output  # cause

    def __call__(self, images, label):
        scores = self.model(images)
        self.model.zero_grad()
        scores[:, label].sum().backward()
        weights = self.features.grad.mean((2, 3), keepdim=True)  # raises TS825/TS413/TS411 at self.features.grad.mean, cause
        return torch.relu((weights * self.features).sum(1))


torch.manual_seed(0)
model = Net().eval()
cam = Cam(model, model.last)
for batch in torch.rand(3, 2, 3, 16, 16):
    for label in range(4):
        print(cam(batch, label).amax().item())

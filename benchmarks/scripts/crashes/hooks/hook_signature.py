"""Grad-CAM: a backward hook that was written for tensors is registered at a module."""

import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 12, 3, padding=1)
        self.fc = nn.Linear(12, 4)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.fc(x.mean(dim=(2, 3)))


class GradCam:
    def __init__(self, model, layer):
        self.model = model
        self.gradient = None
        self.activation = None
        layer.register_forward_hook(self.save_activation)
        layer.register_full_backward_hook(self.save_gradient)  # cause

    def save_activation(self, module, inputs, output):
        self.activation = output.detach()

    def save_gradient(self, grad):  # cause
        self.gradient = grad[0].detach()

    def __call__(self, x, target):
        self.model.zero_grad()
        score = self.model(x)[:, target].sum()
        score.backward()  # raises TS820 at score.backward()
        return F.relu(self.activation.mean(dim=1))


net = Net()
cam = GradCam(net, net.conv2)
for step in range(2):
    print(cam(torch.randn(2, 3, 8, 8), step).shape)

"""Forward and backward hooks: recorded activations, GradCAM, gradient statistics, a parameter hook."""
from collections import defaultdict
from functools import partial

import torch
from torch import nn
import torch.nn.functional as F


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(self.pool(x).flatten(1))


class GradCAM:
    def __init__(self, model, target_layer):
        self.model = model
        self.activations = None
        self.gradients = None
        self.handles = [
            target_layer.register_forward_hook(self.save_activation),
            target_layer.register_full_backward_hook(self.save_gradient),
        ]

    def save_activation(self, module, inputs, output):
        self.activations = output.detach()

    def save_gradient(self, module, grad_input, grad_output):
        self.gradients = grad_output[0].detach()

    def __call__(self, x, index=None):
        logits = self.model(x)
        if index is None:
            index = logits.argmax(dim=1)
        score = logits.gather(1, index.view(-1, 1)).sum()
        self.model.zero_grad()
        score.backward()
        weights = self.gradients.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(dim=1, keepdim=True))
        cam = F.interpolate(cam, x.shape[2:], mode="bilinear", align_corners=False)
        return cam / (cam.amax(dim=(2, 3), keepdim=True) + 1e-8)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for handle in self.handles:
            handle.remove()


activation = {}


def get_activation(name):
    def hook(model, input, output):
        activation[name] = output.detach()

    return hook


stats = defaultdict(list)


def record(name, module, inputs, output):
    stats[name].append(output.std().item())


torch.manual_seed(0)
model = SmallNet()
model.conv1.register_forward_hook(get_activation("conv1"))
for name, module in model.named_modules():
    if isinstance(module, nn.Conv2d):
        module.register_forward_hook(partial(record, name))
model.fc.weight.register_hook(lambda g: g.clamp(-1, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 3, 12, 12), torch.randint(0, 5, (6,))
for _ in range(2):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(activation["conv1"].shape, {k: len(v) for k, v in stats.items()})

with GradCAM(model, model.conv2) as cam:
    heat = cam(x)
print(heat.shape, heat.max().item())

feats = []
handle = model.pool.register_forward_hook(lambda m, i, o: feats.append(o.flatten(1)))
with torch.no_grad():
    model(x)
handle.remove()
print(torch.cat(feats).shape)

"""Modules whose inputs are read for their parts, and that give objects."""

from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Padded(object):
    def __init__(self, tensors, mask: Optional[Tensor]):
        self.tensors = tensors
        self.mask = mask

    def decompose(self):
        return self.tensors, self.mask


class Pad(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.linear = nn.Linear(width, classes)

    def forward(self, x):
        y = self.linear(x.transpose(1, 2))
        return Padded(y, y.sum(-1) > 0)


class Pooled(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, padding=1)

    def forward(self, given: Padded):
        x, mask = given.decompose()
        x = self.conv(x) * mask.unsqueeze(1)
        return x.flatten(2).sum(-1) / mask.flatten(1).sum(-1, keepdim=True)


class SetLoss(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes

    def boxes(self, outputs, targets):
        return F.l1_loss(outputs["pred_boxes"], targets["boxes"], reduction="none").sum(-1)

    def forward(self, outputs, targets):
        logits = outputs["pred_logits"].view(-1, self.classes)
        return {"classes": logits.log_softmax(-1), "boxes": self.boxes(outputs, targets)}


class Linked(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.linear = nn.Linear(i, o)

    def forward(self, data):
        h = self.linear(data.x)
        return h + data.bias.unsqueeze(0)


class Discrete(nn.Module):
    def __init__(self, width, actions):
        super().__init__()
        self.linear = nn.Linear(width, actions)

    def forward(self, x):
        return torch.distributions.Categorical(logits=self.linear(x))


class Continuous(nn.Module):
    def __init__(self, width, actions):
        super().__init__()
        self.mean = nn.Linear(width, actions)
        self.logstd = nn.Parameter(torch.zeros(actions))

    def forward(self, x):
        return torch.distributions.Normal(self.mean(x), self.logstd.exp())


class Grown(nn.Module):
    def __init__(self, width, outputs, stages=3):
        super().__init__()
        self.stages = nn.ModuleList()
        for _ in range(stages):
            self.stages += [nn.Conv2d(width, width, 3, stride=2, padding=1)]
        self.add_module("head", nn.Conv2d(width, outputs, 1))

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self._modules["head"](x)

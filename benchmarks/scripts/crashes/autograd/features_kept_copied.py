"""The best encoder is copied, which still holds the features of its last call."""
import copy
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.feats = []
    def forward(self, x):
        self.feats = []
        for layer in self.layers:
            x = layer(x).tanh()
            self.feats.append(x)  # cause
        return x

class Learner:
    def __init__(self, net):
        self.net = net
        self.best = None
    def step(self, x):
        loss = self.net(x).square().mean()
        loss.backward()
        if self.best is None:
            self.best = copy.deepcopy(self.net)  # raises TS412 at copy.deepcopy(self.net)
        return loss.item()

print(Learner(Encoder()).step(torch.randn(3, 4)))

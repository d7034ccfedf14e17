"""A vocoder with a running average of its weights."""
import copy

import torch
from torch import nn
from torch.nn.utils import weight_norm


def conv(a, b, width):
    return weight_norm(nn.Conv1d(a, b, width, padding=width // 2))  # cause


class Vocoder(nn.Module):
    def __init__(self, bands=8, width=12):
        super().__init__()
        self.net = nn.Sequential(conv(bands, width, 5), nn.ReLU(), conv(width, 1, 3))

    def forward(self, x):
        return self.net(x)


class Average:
    def __init__(self, net, decay=0.9):
        self.net = copy.deepcopy(net)  # raises TS412 at copy.deepcopy(net)
        self.decay = decay

    @torch.no_grad()
    def follow(self, net):
        for mine, new in zip(self.net.parameters(), net.parameters()):
            mine.lerp_(new, 1 - self.decay)


def main():
    torch.manual_seed(0)
    net = Vocoder()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    average = None
    for step in range(4):
        x = torch.randn(4, 8, 20)
        loss = (net(x) - x.mean(1, keepdim=True)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if average is None:
            average = Average(net)
        average.follow(net)
    print(loss.item())


main()

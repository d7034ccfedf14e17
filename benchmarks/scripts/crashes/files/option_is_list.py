"""type=list makes characters of an option."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=list, default="64,32")  # cause
parser.add_argument("--inputs", type=int, default=10)
args = parser.parse_args()


def mlp(sizes):
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]  # raises TS825 at nn.Linear(before, after)
    return nn.Sequential(*layers)


net = mlp([args.inputs, *args.hidden, 3])
for _ in range(2):
    print(net(torch.randn(4, args.inputs)).shape)

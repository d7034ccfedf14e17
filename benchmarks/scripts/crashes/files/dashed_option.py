"""An option of the command line is read under the name that it has with dashes in it joined."""

import argparse

import torch
from torch import nn


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden-size", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    return parser.parse_args([])


def build(args):
    return nn.Sequential(nn.Linear(4, args.hidden_size), nn.ReLU(), nn.Linear(args.hidden_size, 2))


def main():
    args = options()
    model = build(args)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)  # raises TS821 at args.lr, cause
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()

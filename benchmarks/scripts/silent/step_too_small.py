"""A learning rate that was meant for another optimizer."""
import argparse

import torch
from torch import nn


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-8)  # fault: TS928 | fixed: parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--steps", type=int, default=200)
    return parser.parse_args([])


def main(args):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 30), nn.SiLU(), nn.Linear(30, 1))
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr)  # fault: TS928
    for step in range(args.steps):
        x = torch.rand(64, 6)
        loss = nn.functional.l1_loss(net(x), x.prod(1, keepdim=True) * 10)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # fault: TS928
        if step % 50 == 0:
            print(step, loss.item())


main(parse())

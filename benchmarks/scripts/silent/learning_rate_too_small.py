"""Nothing moves: lr=1e-9."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-9)  # fixed: parser.add_argument("--lr", type=float, default=1e-2)
parser.add_argument("--epochs", type=int, default=5)
args = parser.parse_args([])

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)  # fault: TS928
for epoch in range(args.epochs):
    for _ in range(16):
        x = torch.randn(32, 4)
        y = x[:, 1:2] - x[:, 2:3]
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

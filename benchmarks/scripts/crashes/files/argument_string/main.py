"""Training with three seeds."""

import torch
from network import Network
from options import parse
from torch import nn

args = parse()
for seed in range(2):
    torch.manual_seed(seed)
    model = Network(args.hidden)  # cause
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        x, y = torch.randn(8, 12), torch.randint(0, 3, (8,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(seed, loss.item())

"""Two moons, a function for an epoch."""
import math
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def moons(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.rand(n, generator=g) * math.pi
    side = torch.randint(0, 2, (n,), generator=g)
    x = torch.stack([t.cos() + side, t.sin() * (1 - 2 * side) + 0.5 * side], 1)
    return x + 0.1 * torch.randn(n, 2, generator=g), side


def train_epoch(model, loader, optimizer, loss_fn):
    model.train()
    seen, total = 0, 0.0
    for x, y in loader:
        loss = loss_fn(model(x), y)
        # fixed: optimizer.zero_grad()
        loss.backward()  # fault: TS501
        optimizer.step()
        total += loss.item() * len(x)
        seen += len(x)
    return total / seen


def main():
    torch.manual_seed(1)
    loader = DataLoader(TensorDataset(*moons(400, 0)), batch_size=40, shuffle=True)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(8):
        print(epoch, round(train_epoch(model, loader, optimizer, nn.CrossEntropyLoss()), 4))


if __name__ == "__main__":
    main()

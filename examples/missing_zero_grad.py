"""Linear regression whose gradients pile up from step to step: nothing crashes, and the loss swings."""

import torch
from torch import nn


def make_line(count=128):
    x = torch.linspace(-1, 1, count).unsqueeze(1)
    return x, 3 * x - 0.5 + 0.05 * torch.randn(count, 1)


def train(model, x, y, steps=100):
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = make_line()
    train(nn.Linear(1, 1), x, y)

"""Fourteen layers of sigmoids: nothing reaches the first ones."""
import torch
import torch.nn as nn
import torch.optim as optim


def build(depth=14, width=32):
    layers = [nn.Linear(10, width)]
    for _ in range(depth):
        layers += [nn.Sigmoid(), nn.Linear(width, width)]  # fault: TS924/TS926 | fixed: layers += [nn.ReLU(), nn.LayerNorm(width), nn.Linear(width, width)]
    return nn.Sequential(*layers, nn.Linear(width, 3))


def fit(model, x, y, epochs):
    history = []
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for bx, by in zip(x.split(50), y.split(50)):
            optimizer.zero_grad()
            out = model(bx)  # fault: TS924
            loss = nn.functional.cross_entropy(out, by)
            loss.backward()  # fault: TS924
            optimizer.step()
        history.append(loss.item())
    return history


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1000, 10)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    print(fit(build(), x, y, 6))

"""The first step works; in the second, the loss function is a number."""

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


def main():
    torch.manual_seed(1)
    x = torch.randn(40, 5)
    y = x.sum(dim=1)
    model = Regressor()
    loss = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    history = []
    for epoch in range(3):
        for i in range(0, 40, 10):
            xb, yb = x[i : i + 10], y[i : i + 10]
            pred = model(xb)
            loss = loss(pred, yb)  # raises TS815 at loss(pred, yb), cause
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        history.append(loss.item())
    print(history)


main()

"""Random search within one training: the best model is "remembered" by its name and trained on."""
import copy
import math
import random

import torch
from torch import nn


def make(width):
    return nn.Sequential(nn.Linear(3, width), nn.ELU(), nn.Linear(width, 1))


def error(model, x, y):
    model.eval()
    with torch.no_grad():
        return math.sqrt(nn.functional.mse_loss(model(x), y))


def search(trials, x, y, vx, vy):
    best, best_error = None, math.inf
    for trial in range(trials):
        model = make(random.choice([8, 16, 32]))
        optimizer = torch.optim.SGD(model.parameters(), lr=10 ** random.uniform(-2, -0.5), momentum=0.8)
        for epoch in range(25):
            model.train()
            for part in torch.randperm(len(x)).split(40):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x[part]), y[part])
                loss.backward()
                optimizer.step()
            value = error(model, vx, vy)
            if value < best_error:
                best, best_error = model, value  # fault: TS517 | fixed: best, best_error = copy.deepcopy(model), value
        print(trial, value, best_error)
    return best, best_error


if __name__ == "__main__":
    torch.manual_seed(0)
    random.seed(0)
    x = torch.rand(320, 3) * 2 - 1
    y = (x.prod(1, keepdim=True) * 3 + x[:, :1]) + 0.2 * torch.randn(320, 1)
    best, claimed = search(4, x[:240], y[:240], x[240:], y[240:])
    print("claimed", claimed, "measured", error(best, x[240:], y[240:]))  # fault: TS517

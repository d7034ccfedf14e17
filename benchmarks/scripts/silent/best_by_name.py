"""The best weights are remembered by reference, inside of an early stopper."""
import copy

import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.best, self.weights, self.bad = patience, float("inf"), None, 0

    def __call__(self, value, model):
        if value < self.best:
            self.best, self.bad = value, 0
            self.weights = model.state_dict()  # fault: TS517 | fixed: self.weights = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


torch.manual_seed(0)
x, w = torch.randn(400, 6), torch.randn(6, 1)
y = x @ w + 0.3 * torch.randn(400, 1)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
stop = EarlyStopping()
for epoch in range(20):
    for i in range(0, 300, 30):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[i : i + 30]), y[i : i + 30])
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(net(x[300:]), y[300:]).item()
    if stop(val, net):
        break
net.load_state_dict(stop.weights)  # fault: TS517
print(epoch, stop.best, val)

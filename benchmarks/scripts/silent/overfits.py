"""Few samples, many weights, many epochs."""
import torch
from torch import nn


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        val_loss = nn.functional.cross_entropy(model(x), y)  # fault: TS936
    model.train()
    return val_loss.item()


torch.manual_seed(0)
n = 40  # fixed: n = 4000
w = torch.randn(20, 2)
make = lambda k: (lambda x: (x, (x @ w + torch.randn(k, 2) * 3).argmax(1)))(torch.randn(k, 20))
(x, y), (xv, yv) = make(n), make(400)
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(40):  # fixed: for epoch in range(3):
    for rows in torch.randperm(len(x)).split(20):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, round(loss.item(), 3), round(evaluate(model, xv, yv), 3))

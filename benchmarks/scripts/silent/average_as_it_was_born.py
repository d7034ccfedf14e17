"""An average of the weights is judged with the batch statistics of its birth."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
x = 3 + 2 * torch.randn(400, 10)
y = (x[:, 0] > 3).long()
model = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
average = copy.deepcopy(model).eval()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def follow(average, model, decay):
    with torch.no_grad():
        for mine, yours in zip(average.parameters(), model.parameters()):  # fault: TS574 | fixed: for mine, yours in zip(average.state_dict().values(), model.state_dict().values()):
            mine.copy_(decay * mine + (1 - decay) * yours)


for epoch in range(6):
    for part in torch.randperm(400).split(40):
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        follow(average, model, 0.9)
    with torch.no_grad():
        print(epoch, loss.item(), (average(x).argmax(1) == y).float().mean().item())

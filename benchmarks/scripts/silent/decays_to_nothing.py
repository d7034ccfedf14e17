"""A weight decay in place of a learning rate."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(800, 10)
y = (x @ torch.randn(10, 6)).argmax(1)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 6))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1.0)  # fault: TS944 | fixed: opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
for epoch in range(12):
    for i in torch.randperm(800).split(80):
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())

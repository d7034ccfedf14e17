"""A weight decay so strong that the weights go to zero."""
import torch
from torch import nn

torch.manual_seed(0)
config = {"lr": 1e-2, "weight_decay": 2.0, "epochs": 8}  # fault: TS922/TS512/TS544/TS928/TS944 | fixed: config = {"lr": 1e-2, "weight_decay": 1e-4, "epochs": 8}
y = torch.randint(0, 4, (1000,))
x = torch.randn(4, 10)[y] * 1.5 + torch.randn(1000, 10)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=config["lr"], weight_decay=config["weight_decay"])  # fault: TS922/TS944/TS544/TS921/TS928
for epoch in range(config["epochs"]):
    for i in torch.randperm(1000).split(50):
        optimizer.zero_grad()
        out = net(x[i])  # fault: TS922
        loss = nn.functional.cross_entropy(out, y[i])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

"""A scheduler is built and never used."""
import torch
from torch import nn, optim

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[3, 6], gamma=0.1)  # fault: TS938
for epoch in range(9):
    for _ in range(12):
        x = torch.rand(32, 2)
        loss = nn.functional.mse_loss(model(x), (x[:, :1] - x[:, 1:]).abs())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    # fixed: scheduler.step()
    print(epoch, loss.item(), optimizer.param_groups[0]["lr"])

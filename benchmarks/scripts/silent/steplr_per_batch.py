"""A schedule that is meant in epochs and stepped in every batch."""
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(0)
y = torch.randint(0, 8, (2000,))
x = torch.randn(8, 30)[y] + torch.randn(2000, 30)
model = nn.Sequential(nn.Linear(30, 50), nn.GELU(), nn.Linear(50, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = StepLR(optimizer, step_size=10, gamma=0.1)  # fault: TS536/TS928
EPOCHS = 12


def run_epoch():
    for part in torch.randperm(2000).split(50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        loss.backward()
        optimizer.step()
        scheduler.step()  # fault: TS536/TS928 | fixed: pass
    return loss.item()


for epoch in range(EPOCHS):
    print(epoch, run_epoch(), scheduler.get_last_lr())
    # fixed: scheduler.step()

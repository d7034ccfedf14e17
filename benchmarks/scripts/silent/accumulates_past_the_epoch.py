"""An epoch has fewer batches than are accumulated for a step."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 10)
y = (x[:, 0] > 0).long()
ACCUMULATE = 16  # fixed: ACCUMULATE = 2
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    optimizer.zero_grad()
    for number, part in enumerate(torch.randperm(320).split(40), 1):
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        (loss / ACCUMULATE).backward()
        if number % ACCUMULATE == 0:  # fault: TS503
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())

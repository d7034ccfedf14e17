"""A keep probability given for a drop probability."""
import torch
from torch import nn

torch.manual_seed(0)
keep_prob = 1.0
x = torch.randn(320, 16)
y = (x @ torch.randn(16, 5)).argmax(1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(keep_prob), nn.Linear(64, 5))  # fault: TS539 | fixed: model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(1 - keep_prob), nn.Linear(64, 5))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(10):
    for chunk in torch.randperm(320).split(32):
        loss = nn.functional.cross_entropy(model(x[chunk]), y[chunk])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())

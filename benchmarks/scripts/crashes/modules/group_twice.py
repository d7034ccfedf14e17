"""A head that is unfrozen is given to the optimizer a second time."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
        self.head = nn.Linear(12, 2)

    def forward(self, x):
        return self.head(self.backbone(x))


def unfreeze(model, optimizer):
    for p in model.backbone.parameters():
        p.requires_grad = True
    optimizer.add_param_group({"params": model.backbone.parameters(), "lr": 1e-4})  # raises TS199 at optimizer.add_param_group({"params": model.backbone.parameters(), "lr": 1e-4}), cause


model = Model()
for p in model.backbone.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # cause
for epoch in range(3):
    if epoch == 1:
        unfreeze(model, optimizer)
    loss = nn.functional.cross_entropy(model(torch.randn(8, 6)), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""A cosine embedding loss whose targets are a column."""

import torch
from torch import nn


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, a, b):
        return self.net(a), self.net(b)


model = Siamese()
criterion = nn.CosineEmbeddingLoss(margin=0.2)
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    left, right = torch.randn(7, 6), torch.randn(7, 6)
    same = torch.randint(0, 2, (7, 1)) * 2 - 1  # cause
    u, v = model(left, right)
    loss = criterion(u, v, same.float())  # raises TS113/TS108 at criterion(u, v, same.float()), cause
    opt.zero_grad()
    loss.backward()
    opt.step()

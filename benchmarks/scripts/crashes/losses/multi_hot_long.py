"""Several labels at once, as integers."""

import torch
from torch import nn


class Tags(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(8, n)

    def forward(self, x):
        return self.fc(x)


def encode(labels, n):
    hot = torch.zeros(len(labels), n, dtype=torch.long)  # cause
    for row, found in enumerate(labels):
        hot[row, found] = 1
    return hot


tags = Tags(5)
opt = torch.optim.SGD(tags.parameters(), lr=0.1)
for labels in ([[0, 2], [1]], [[3], [4, 0]]):
    target = encode(labels, 5)
    loss = nn.functional.binary_cross_entropy_with_logits(tags(torch.randn(2, 8)), target)  # raises TS307 at nn.functional.binary_cross_entropy_with_logits(tags(torch.randn(2, 8)), target), cause
    opt.zero_grad()
    loss.backward()
    opt.step()

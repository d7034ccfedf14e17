"""Layers are written down as text, and made by exec."""

import torch
from torch import nn

TEXT = """
body = nn.Sequential(nn.Linear(9, width), nn.GELU())
head = nn.Linear(width * 2, classes)
"""  # cause


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        scope = {"nn": nn, "width": width, "classes": classes}
        exec(TEXT, scope)
        self.body, self.head = scope["body"], scope["head"]

    def forward(self, x):
        return self.head(self.body(x))  # raises TS101 at self.head(self.body(x))


torch.manual_seed(0)
model = Net(width=7, classes=3)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(5, 9)), torch.tensor([0, 1, 2, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

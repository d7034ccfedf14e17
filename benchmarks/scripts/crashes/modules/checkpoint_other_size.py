"""A checkpoint of a net with another number of classes."""

import io

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(6, 6)
        self.head = nn.Linear(6, classes)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def pretrained():
    buffer = io.BytesIO()
    torch.save(Net(1000).state_dict(), buffer)
    buffer.seek(0)
    return buffer


model = Net(10)  # cause
state = torch.load(pretrained())
model.load_state_dict(state, strict=False)  # raises TS530 at model.load_state_dict(state, strict=False), cause
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    model(torch.randn(2, 6)).sum().backward()
    opt.step()

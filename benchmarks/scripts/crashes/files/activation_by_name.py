"""An activation is looked up by a name that the table does not have."""

import torch
from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}


def activation(name):
    return ACTIVATIONS.get(name)  # cause


class MLP(nn.Module):
    def __init__(self, sizes, act="silu"):  # cause
        super().__init__()
        layers = []
        for i, o in zip(sizes, sizes[1:]):
            layers += [nn.Linear(i, o), activation(act)()]  # raises TS918 at activation(act)()
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, x):
        return self.net(x)


model = MLP([5, 16, 16, 2])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(9, 5)), torch.randint(0, 2, (9,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

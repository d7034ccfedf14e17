"""A hook that logs shapes expects the keyword arguments that it is not registered for."""

import torch
from torch import nn

shapes = {}


def log_shapes(module, args, kwargs, output):  # cause
    shapes[type(module).__name__] = tuple(output.shape)


class Head(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, 2)

    def forward(self, x):
        return self.fc(self.norm(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(5, 8)
        self.head = Head(8)

    def forward(self, x):
        return self.head(torch.tanh(self.stem(x)))  # raises TS820 at self.stem(x)


model = Model()
for layer in model.modules():
    if isinstance(layer, nn.Linear):
        layer.register_forward_hook(log_shapes)  # cause
optimizer = torch.optim.Adam(model.parameters())
for step in range(2):
    x, y = torch.randn(4, 5), torch.randint(0, 2, (4,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""Hooks that keep the output of every layer, also of a recurrent one, whose output is a tuple."""

import torch
from torch import nn


class Recorder:
    def __init__(self, model):
        self.activations = {}
        self.handles = []
        for name, module in model.named_modules():
            if not list(module.children()):
                self.handles.append(module.register_forward_hook(self.hook(name)))

    def hook(self, name):
        def keep(module, inputs, output):
            self.activations[name] = output.detach().mean()  # raises TS815 at output.detach, cause

        return keep


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 8)
        self.gru = nn.GRU(8, 8, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        out, last = self.gru(self.proj(x))
        return self.head(out[:, -1])


model = Model()
recorder = Recorder(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(5, 6, 4), torch.randint(0, 2, (5,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print({name: round(float(value), 3) for name, value in recorder.activations.items()})

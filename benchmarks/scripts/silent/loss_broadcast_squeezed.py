"""The network squeezes its output and the targets are a column: (N,) and (N, 1), in an error that is written out."""
import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.inner = nn.Linear(inputs, hidden)
        self.outer = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x))).squeeze(1)


torch.manual_seed(0)
inputs = torch.randn(320, 6)
targets = inputs @ torch.randn(6, 1) + 0.1 * torch.randn(320, 1)
regressor = Regressor(6, 16)
adam = torch.optim.Adam(regressor.parameters(), lr=3e-3)
for epoch in range(12):
    for first in range(0, 320, 32):
        x, y = inputs[first : first + 32], targets[first : first + 32]
        error = (regressor(x) - y).square().mean()  # fault: TS114 | fixed: error = (regressor(x) - y[:, 0]).square().mean()
        adam.zero_grad()
        error.backward()
        adam.step()
print(error.item())

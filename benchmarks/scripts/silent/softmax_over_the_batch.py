"""Attention over the wrong dimension, and the class scores as well."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10, 32)
        self.b = nn.Linear(32, 4)

    def forward(self, x):
        scores = self.b(self.a(x).relu())
        return scores.log_softmax(0)  # fault: TS308 | fixed: return scores.log_softmax(1)


torch.manual_seed(0)
model, opt = Net(), None
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for i in range(80):
    x = torch.randn(40, 10)
    y = x[:, :4].argmax(1)
    loss = nn.functional.nll_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, float(loss))

"""A gradient of something that is no number."""

import torch
from torch import nn
from torch.func import functional_call, grad


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
params = {name: p.detach() for name, p in net.named_parameters()}


def objective(params, x):
    return functional_call(net, params, (x,)).mean(0)  # cause


for _ in range(2):
    grads = grad(objective)(params, torch.randn(4, 3))  # raises TS199/TS406 at grad(objective)(params, torch.randn(4, 3)), cause
    params = {name: p - 0.1 * grads[name] for name, p in params.items()}

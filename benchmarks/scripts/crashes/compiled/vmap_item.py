"""Per-sample gradients with a number taken out of a tensor."""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x) * (1.0 if x.sum().item() > 0 else 0.5)  # raises TS199 at x.sum().item(), cause


net = Net()
params = dict(net.named_parameters())


def loss_of(params, x):
    return functional_call(net, params, (x,)).sum()


for _ in range(2):
    grads = vmap(grad(loss_of), in_dims=(None, 0))(params, torch.randn(5, 3))
    with torch.no_grad():
        for name, p in params.items():
            p -= 0.1 * grads[name].mean(0)

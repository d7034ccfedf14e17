"""functional_call with copies of the parameters; the optimizer has the module's own, to which no gradient comes."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(9)
template = nn.Sequential(nn.Linear(4, 24), nn.SiLU(), nn.Linear(24, 24), nn.SiLU(), nn.Linear(24, 2))
weights = {name: p.detach().clone().requires_grad_() for name, p in template.named_parameters()}
optimizer = torch.optim.Adam(template.parameters(), lr=3e-3)  # fault: TS512/TS534/TS502 | fixed: optimizer = torch.optim.Adam(weights.values(), lr=3e-3)


def predict(params, x):
    return functional_call(template, params, (x,))


def objective(params, x, y):
    return nn.functional.mse_loss(predict(params, x), y)


for step in range(200):
    x = torch.randn(64, 4)
    y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].sin()], 1)
    loss = objective(weights, x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, float(loss))

"""An ensemble under vmap: the stacked parameters are what is computed with, the optimizer has those of the members."""
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)


def member():
    return nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 1))


members = [member() for _ in range(4)]
parameters, buffers = stack_module_state(members)
skeleton = member().to("meta")


def one(parameters, buffers, x):
    return functional_call(skeleton, (parameters, buffers), (x,))


ensemble = vmap(one, in_dims=(0, 0, None))
optimizer = torch.optim.Adam((p for m in members for p in m.parameters()), lr=1e-2)  # fault: TS512/TS503/TS525/TS921 | fixed: optimizer = torch.optim.Adam(parameters.values(), lr=1e-2)
weights = torch.randn(5, 1)
for step in range(100):
    x = torch.randn(64, 5)
    y = torch.sin(x @ weights)
    answers = ensemble(parameters, buffers, x)
    loss = (answers - y).square().mean()  # fault: TS512/TS921
    optimizer.zero_grad()
    loss.backward()  # fault: TS512/TS525
    optimizer.step()  # fault: TS512/TS503/TS525
    if not step % 25:
        print(step, loss.item(), answers.var(0).mean().item())

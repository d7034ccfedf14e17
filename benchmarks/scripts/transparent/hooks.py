"""Hooks of modules and tensors, functions of autograd, saved tensors, checkpoints."""
import torch
from torch.utils.checkpoint import checkpoint

log = []


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        log.append(tuple(gradient.shape))
        return 3 * x**2 * gradient


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
model[0].register_forward_hook(lambda module, inputs, output: log.append(("forward", tuple(output.shape))))
model[2].register_full_backward_hook(lambda module, gi, go: log.append(("backward", tuple(go[0].shape))))
x = torch.ones(4, 2, requires_grad=True)
x.register_hook(lambda gradient: log.append(("tensor", tuple(gradient.shape))))
with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t):
    y = Cube.apply(checkpoint(model, x, use_reentrant=False)).sum()
y.backward()
print(log, x.grad, torch.autograd.gradcheck(Cube.apply, torch.ones(2, dtype=torch.double, requires_grad=True)))

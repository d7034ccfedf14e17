"""torch.func: vmap, grad, jvp, functional_call, ensembles."""
import torch
from torch.func import functional_call, grad, jvp, stack_module_state, vmap

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)


def loss(parameters, x, y):
    out = functional_call(model, parameters, (x.unsqueeze(0),))
    return ((out - y) ** 2).sum()


parameters = {name: value.detach() for name, value in model.named_parameters()}
grads = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, torch.ones(4, 3), torch.arange(4.0))
print({name: value.shape for name, value in grads.items()}, grads["weight"].sum())
print(jvp(lambda x: (x.sin() * x).sum(), (torch.ones(3),), (torch.ones(3),)))
stacked, buffers = stack_module_state([torch.nn.Linear(3, 1) for _ in range(2)])
print(vmap(lambda p, x: functional_call(model, p, (x,)), in_dims=(0, None))(stacked, torch.ones(5, 3)).shape)

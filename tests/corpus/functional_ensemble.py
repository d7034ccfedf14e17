"""torch.func: an ensemble by stack_module_state and vmap, per-sample gradients, a Jacobian, and a Hessian."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, hessian, jacrev, stack_module_state, vmap


class MLP(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.fc1 = nn.Linear(36, 24)
        self.fc2 = nn.Linear(24, num_classes)

    def forward(self, x):
        x = x.flatten(1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


torch.manual_seed(0)
num_models = 3
data = torch.randn(5, 16, 1, 6, 6)
targets = torch.randint(4, (80,))
minibatches = data[:num_models]
models = [MLP() for _ in range(num_models)]

predictions_diff = [model(minibatch) for model, minibatch in zip(models, minibatches)]
params, buffers = stack_module_state(models)
base_model = copy.deepcopy(models[0]).to("meta")


def fmodel(params, buffers, x):
    return functional_call(base_model, (params, buffers), (x,))


predictions_vmap = vmap(fmodel)(params, buffers, minibatches)
assert torch.allclose(predictions_vmap, torch.stack(predictions_diff), atol=1e-4)
print(vmap(fmodel, in_dims=(0, 0, None))(params, buffers, minibatches[0]).shape)

model = models[0]
names = {k: v.detach() for k, v in model.named_parameters()}


def compute_loss(params, sample, target):
    batch = sample.unsqueeze(0)
    predictions = functional_call(model, params, (batch,))
    return F.cross_entropy(predictions, target.unsqueeze(0))


per_sample_grads = vmap(grad(compute_loss), in_dims=(None, 0, 0))(names, data[0], targets[:16])
norms = torch.stack([g.flatten(1).norm(dim=1) for g in per_sample_grads.values()]).norm(dim=0)
print({k: tuple(v.shape) for k, v in per_sample_grads.items()}, norms.mean().item())

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = F.cross_entropy(model(data[0]), targets[:16])
optimizer.zero_grad()
loss.backward()
optimizer.step()


def f(x):
    return (x ** 3).sum()


v = torch.arange(3.0)
print(jacrev(lambda z: z.sin())(v), hessian(f)(v).diagonal())

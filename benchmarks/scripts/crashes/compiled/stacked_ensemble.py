"""An ensemble as one: its weights are stacked, and vmap calls all members at once."""

import torch
from torch import nn
from torch.func import functional_call, stack_module_state


class Member(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)


def evaluate(members, batches):
    parameters, buffers = stack_module_state(members)  # raises TS106/TS601 at stack_module_state(members)
    base = members[0]

    def call(parameters, buffers, x):
        return functional_call(base, (parameters, buffers), (x,))

    return [torch.vmap(call, in_dims=(0, 0, None))(parameters, buffers, x).std(0).mean().item() for x in batches]


torch.manual_seed(0)
for size in (3, 5):
    members = [Member(width=16 + 8 * (number % 2)) for number in range(size)]  # cause
    for member in members:
        optimizer = torch.optim.Adam(member.parameters())
        for _ in range(3):
            x = torch.randn(8, 6)
            loss = (member(x).squeeze(1) - x.prod(1)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(size, evaluate(members, torch.randn(2, 8, 6)))

"""A compiled mixer: the second dense layer mixes the wrong axis."""

import torch
from torch import nn


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.token_mix = nn.Linear(tokens, tokens)
        self.channel_mix = nn.Linear(dim, dim)

    def forward(self, x):
        y = self.token_mix(self.norm(x))  # raises TS101 at self.token_mix(self.norm(x)), cause
        x = x + y
        return x + self.channel_mix(self.norm(x))


class Mixer(nn.Module):
    def __init__(self, tokens=10, dim=24, depth=2):
        super().__init__()
        self.blocks = nn.Sequential(*[MixerBlock(tokens, dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        return self.head(self.blocks(x).mean(1))


model = Mixer()
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    x, y = torch.randn(6, 10, 24), torch.randint(0, 3, (6,))
    loss = nn.functional.cross_entropy(compiled(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

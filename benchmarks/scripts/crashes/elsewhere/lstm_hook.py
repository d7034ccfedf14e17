"""A forward hook that collects statistics of activations meets an LSTM, which returns a tuple."""

from collections import defaultdict

import torch
from torch import nn

activations = defaultdict(list)


def remember(name):
    def hook(module, inputs, output):
        activations[name].append(output.detach().abs().mean().item())  # raises TS813/TS823/TS824/TS825 at output.detach, cause

    return hook


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 24, batch_first=True)
        self.out = nn.Linear(24, 5)

    def forward(self, tokens):
        states, _ = self.lstm(self.embedding(tokens))
        return self.out(states)


model = Tagger()
for name, module in model.named_children():
    module.register_forward_hook(remember(name))  # cause
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    tokens, tags = torch.randint(0, 50, (4, 8)), torch.randint(0, 5, (4, 8))
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tags.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

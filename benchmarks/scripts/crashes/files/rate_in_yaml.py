"""A rate without a dot, in YAML."""

import re

import torch
from torch import nn

PLAN = """
optimizer:
  lr: 2e-3  # cause
  weight_decay: 0.01
"""


def read_yaml(text):
    """Reads numbers as YAML 1.1 does: with a dot, or without a power."""
    found = {}
    for name, value in re.findall(r"^  (\w+): (\S+)", text, re.MULTILINE):
        found[name] = float(value) if re.fullmatch(r"\d+\.\d*(e[-+]\d+)?|\d+", value) else value
    return found


def build(net, options):
    return torch.optim.AdamW(net.parameters(), **options)  # raises TS825 at torch.optim.AdamW(net.parameters(), **options)


net = nn.Linear(3, 1)
opt = build(net, read_yaml(PLAN))
for _ in range(2):
    loss = net(torch.randn(4, 3)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

"""Losses."""

import torch
from torch.nn import functional as F


def contrastive(a, b, temperature=0.1):
    logits = a @ b.t() / temperature  # raises TS101 at a @ b.t()
    target = torch.arange(len(a))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2

"""One length is a number without a dimension."""

import torch
from torch import nn


class Reader:
    def __init__(self, path):
        self.path = path

    def lengths(self):
        return torch.tensor(3)  # cause


def mask_of(lengths, longest):
    mask = torch.zeros(len(lengths), longest, dtype=torch.bool)  # raises TS108 at len(lengths)
    for row, length in enumerate(lengths):
        mask[row, :length] = True
    return mask


net = nn.Linear(4, 4)
for _ in range(2):
    lengths = Reader("x").lengths()
    mask = mask_of(lengths, 5)
    print((net(torch.randn(1, 5, 4)) * mask[..., None]).sum())

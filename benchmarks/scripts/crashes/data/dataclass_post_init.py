"""A batch is a dataclass that makes its mask after it was constructed."""

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Batch:
    ids: torch.Tensor
    lengths: torch.Tensor
    mask: torch.Tensor = field(init=False)

    def __post_init__(self):
        steps = torch.arange(self.ids.shape[1])
        self.mask = steps < self.lengths  # raises TS103 at steps < self.lengths, cause


torch.manual_seed(0)
embed = nn.Embedding(30, 6)
optimizer = torch.optim.SGD(embed.parameters(), lr=0.1)
for step in range(3):
    batch = Batch(torch.randint(0, 30, (4, 9)), torch.tensor([9, 7, 3, 5]))  # cause
    vectors = embed(batch.ids) * batch.mask.unsqueeze(-1)
    loss = vectors.sum(1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

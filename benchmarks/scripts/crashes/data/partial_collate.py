"""A collate function made by partial(): the padding is given under a wrong name."""

from functools import partial

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(batch, pad_value=0, max_length=None):
    ids = pad_sequence([item["ids"][:max_length] for item in batch], batch_first=True, padding_value=pad_value)
    return ids, torch.stack([item["label"] for item in batch])


def dataset():
    g = torch.Generator().manual_seed(0)
    return [{"ids": torch.randint(1, 40, (n,), generator=g), "label": torch.tensor(n % 2)} for n in range(3, 35)]


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(40, 8, padding_idx=0)
        self.out = nn.Linear(8, 2)

    def forward(self, ids):
        return self.out(self.table(ids).sum(1))


model = Bag()
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(dataset(), batch_size=4, collate_fn=partial(collate, padding=0, max_length=20))  # cause
for ids, labels in loader:  # raises TS820 at loader
    loss = nn.functional.cross_entropy(model(ids), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

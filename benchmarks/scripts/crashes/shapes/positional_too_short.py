"""Sequences are longer than the table of positions."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=100, dim=16, max_len=32):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Parameter(torch.zeros(1, max_len, dim))  # cause
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.tokens(ids) + self.positions  # raises TS103 at self.tokens(ids) + self.positions, cause
        return self.head(h)


model = Encoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for length in (32, 32, 24):
    ids = torch.randint(0, 100, (4, length))
    logits = model(ids)
    loss = nn.functional.cross_entropy(logits.view(-1, 100), ids.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

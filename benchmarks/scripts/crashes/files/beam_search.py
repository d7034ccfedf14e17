"""Decoding after training: an index beyond the vocabulary."""

import torch
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, 8)
        self.out = nn.Linear(8, vocab)

    def forward(self, ids):
        return self.out(self.emb(ids))  # raises TS310 at self.emb(ids)


lm = LM()
opt = torch.optim.Adam(lm.parameters())
for _ in range(2):
    ids = torch.randint(0, 12, (2, 6))
    loss = nn.functional.cross_entropy(lm(ids).flatten(0, 1), ids.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
beams = torch.zeros(3, 1, dtype=torch.long)
for _ in range(4):
    scores = lm(beams)[:, -1].log_softmax(-1)
    best = scores.flatten().topk(3).indices
    beams = torch.cat([beams, best[:, None]], dim=1)  # cause

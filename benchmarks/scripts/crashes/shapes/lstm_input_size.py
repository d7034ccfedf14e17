"""The embedding is wider than the LSTM expects."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab, emb_dim, hidden, tags):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb_dim)
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True)  # cause
        self.out = nn.Linear(hidden, tags)

    def forward(self, ids):
        states, _ = self.lstm(self.emb(ids))  # raises TS110 at self.lstm(self.emb(ids))
        return self.out(states)


tagger = Tagger(50, 12, 20, 5)
opt = torch.optim.Adam(tagger.parameters())
for _ in range(2):
    ids, tags = torch.randint(50, (3, 7)), torch.randint(5, (3, 7))
    loss = nn.functional.cross_entropy(tagger(ids).flatten(0, 1), tags.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()

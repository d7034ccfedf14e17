"""Token losses want the classes in dimension 1."""

import torch
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab=30):
        super().__init__()
        self.emb = nn.Embedding(vocab, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, vocab)

    def forward(self, ids):
        return self.head(self.rnn(self.emb(ids))[0])


lm = LM()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(lm.parameters())
text = torch.randint(0, 30, (4, 21))
for _ in range(2):
    logits = lm(text[:, :-1])
    loss = criterion(logits, text[:, 1:])  # raises TS113 at criterion(logits, text[:, 1:]), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

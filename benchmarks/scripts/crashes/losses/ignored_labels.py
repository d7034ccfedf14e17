"""Padding is -1 in the labels, and the loss does not know."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Tagger(nn.Module):
    def __init__(self, vocabulary, tags):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 8, padding_idx=0)
        self.rnn = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, tags)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


sentences = [torch.randint(1, 20, (n,)) for n in (5, 3, 7)]
tags = [torch.randint(0, 4, (len(s),)) for s in sentences]
model = Tagger(20, 4)
criterion = nn.CrossEntropyLoss()  # cause
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    ids = pad_sequence(sentences, batch_first=True)
    gold = pad_sequence(tags, batch_first=True, padding_value=-1)  # cause
    scores = model(ids)
    loss = criterion(scores.view(-1, 4), gold.view(-1))  # raises TS310 at criterion(scores.view(-1, 4), gold.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()

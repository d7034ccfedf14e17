"""A decoder is fed with tokens of one step without the dimension of time."""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=30, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, token, hidden):
        x = self.embed(token)
        y, hidden = self.rnn(x, hidden)  # raises TS110 at self.rnn(x, hidden), cause
        return self.out(y), hidden


class Encoder(nn.Module):
    def __init__(self, vocab=30, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, ids):
        return self.rnn(self.embed(ids))[1]


encoder, decoder = Encoder(), Decoder()
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
for _ in range(2):
    source, target = torch.randint(0, 30, (4, 7)), torch.randint(0, 30, (4, 5))
    hidden = encoder(source)
    loss = 0
    for t in range(target.size(1) - 1):
        scores, hidden = decoder(target[:, t], hidden)  # cause
        loss = loss + nn.functional.cross_entropy(scores.squeeze(1), target[:, t + 1])
    opt.zero_grad()
    loss.backward()
    opt.step()

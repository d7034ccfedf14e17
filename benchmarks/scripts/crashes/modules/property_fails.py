"""A property raises AttributeError, which is told as its own absence."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed = nn.Embedding(50, size)
        self.rnn = nn.GRU(size, 32, batch_first=True, bidirectional=True)

    @property
    def output_size(self):
        return self.rnn.hidden_sizes * 2  # cause

    def forward(self, x):
        return self.rnn(self.embed(x))[0]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(16)
        self.head = nn.Linear(self.encoder.output_size, 5)  # raises TS821 at self.encoder.output_size

    def forward(self, x):
        return self.head(self.encoder(x))


tagger = Tagger()
print(tagger(torch.randint(0, 50, (2, 7))).shape)

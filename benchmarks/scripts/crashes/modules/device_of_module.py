"""A device is asked of the model, which has none."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.rnn.hidden_size, device=self.device)  # raises TS821 at self.device, cause

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids), self.init_hidden(ids.size(0)))
        return self.out(hidden)


model = Encoder(20, 8)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    ids = torch.randint(0, 20, (4, 6))
    loss = nn.functional.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

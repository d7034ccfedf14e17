"""A language model that carries its state; the last batch is smaller."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LM(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.hidden_size = hidden
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.decoder = nn.Linear(hidden, vocab)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.hidden_size)

    def forward(self, x, hidden):
        output, hidden = self.rnn(self.embed(x), hidden)  # raises TS110 at self.rnn(self.embed(x), hidden)
        return self.decoder(output), hidden


def repackage(h):
    return h.detach()


batch_size = 16
tokens = torch.randint(0, 40, (70, 13))
loader = DataLoader(TensorDataset(tokens[:, :-1], tokens[:, 1:]), batch_size=batch_size)  # cause
model = LM(40, 16, 32)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(2):
    hidden = model.init_hidden(batch_size)  # cause
    for x, y in loader:
        hidden = repackage(hidden)
        logits, hidden = model(x, hidden)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()

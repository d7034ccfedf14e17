"""A language model of two layers of LSTM, whose state is carried from batch to batch."""

import torch
from torch import nn


class RNNModel(nn.Module):
    def __init__(self, vocab, emb, hidden, layers):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, layers, batch_first=True)
        self.decoder = nn.Linear(hidden, vocab)
        self.hidden, self.layers = hidden, layers

    def init_hidden(self, batch):
        weight = next(self.parameters())
        shape = (self.layers, batch, self.hidden)
        return weight.new_zeros(*shape), weight.new_zeros(*shape)

    def forward(self, x, state):
        out, state = self.rnn(self.embed(x), state)
        return self.decoder(out), state


vocab = 1000
model = RNNModel(vocab, 128, 256, 2)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
state = model.init_hidden(20)
for step in range(3):
    x = torch.randint(vocab, (20, 35))
    y = torch.randint(vocab, (20, 35))
    state = tuple(s.detach() for s in state)
    optimizer.zero_grad()
    out, state = model(x, state)
    loss = criterion(out.reshape(-1, vocab), y.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()

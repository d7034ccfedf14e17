"""A sequence to sequence model whose decoder starts from a state that is cut off."""
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, source):
        return self.rnn(self.embed(source))[1]


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens, state):
        y, state = self.rnn(self.embed(tokens), state)
        return self.out(y), state


class Seq2Seq(nn.Module):
    def __init__(self, vocab=12, dim=32):
        super().__init__()
        self.encoder, self.decoder = Encoder(vocab, dim), Decoder(vocab, dim)

    def forward(self, source, target):
        context = self.encoder(source).detach()  # fault: TS534/TS407 | fixed: context = self.encoder(source)
        return self.decoder(target, context)[0]


torch.manual_seed(3)
model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)  # fault: TS534
for step in range(100):
    source = torch.randint(2, 12, (16, 6))
    target = source.flip(1)
    start = torch.ones(16, 1, dtype=torch.long)
    scores = model(source, torch.cat([start, target[:, :-1]], dim=1))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()  # fault: TS534
    optimizer.step()
print(float(loss))

"""A decoder with additive memory: the weights are multiplied with the memory the wrong way round."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)

    def forward(self, x):
        return self.gru(self.embedding(x))


class AttnDecoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.query = nn.Linear(dim, dim)
        self.gru = nn.GRU(2 * dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def step(self, token, hidden, memory):
        query = self.query(hidden[-1]).unsqueeze(1)
        scores = torch.bmm(query, memory.transpose(1, 2))
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights.transpose(1, 2), memory)  # raises TS101/TS108 at torch.bmm(weights.transpose(1, 2), memory), cause
        embedded = self.embedding(token).unsqueeze(1)
        output, hidden = self.gru(torch.cat([embedded, context], dim=-1), hidden)
        return self.out(output.squeeze(1)), hidden

    def forward(self, memory, hidden, target):
        outputs = []
        for t in range(target.size(1)):
            logits, hidden = self.step(target[:, t], hidden, memory)
            outputs.append(logits)
        return torch.stack(outputs, dim=1)


torch.manual_seed(0)
encoder, decoder = Encoder(40, 24), AttnDecoder(30, 24)
parameters = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.Adam(parameters, lr=1e-3)
for iteration in range(3):
    source, target = torch.randint(0, 40, (5, 11)), torch.randint(0, 30, (5, 7))
    memory, hidden = encoder(source)
    logits = decoder(memory, hidden, target)
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""Token ids that went through a float tensor."""

import torch
from torch import nn


def encode(words, table):
    ids = torch.zeros(len(words))  # cause
    for i, word in enumerate(words):
        ids[i] = table[word]
    return ids


class Bag(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.emb = nn.Embedding(vocab, 8)
        self.fc = nn.Linear(8, 2)

    def forward(self, ids):
        return self.fc(self.emb(ids).mean(0))  # raises TS309 at self.emb(ids)


words = "a bird in the hand".split()
table = {word: i for i, word in enumerate(words)}
model = Bag(len(table))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for sentence, label in [(["a", "bird"], 0), (["the", "hand"], 1)]:
    loss = nn.functional.cross_entropy(model(encode(sentence, table)), torch.tensor(label))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

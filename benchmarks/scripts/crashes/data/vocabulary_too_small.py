"""A token beyond the table."""

import torch
from torch import nn

vocab = {"<pad>": 0, "the": 1, "cat": 2, "sat": 3}


def numericalise(text):
    return torch.tensor([vocab.get(word, len(vocab)) for word in text.split()])  # cause


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(size, 8)
        self.fc = nn.Linear(8, 2)

    def forward(self, ids):
        return self.fc(self.embedding(ids).mean(dim=0))  # raises TS310 at self.embedding(ids)


model = Encoder(len(vocab))  # cause
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for text, label in [("the cat sat", 1), ("the dog sat", 0)]:
    loss = nn.functional.cross_entropy(model(numericalise(text)), torch.tensor(label))
    opt.zero_grad()
    loss.backward()
    opt.step()

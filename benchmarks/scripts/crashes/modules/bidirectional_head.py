"""A classifier over a bidirectional LSTM forgets one of the directions."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vocab=50, emb=16, hidden=24, classes=3):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, hidden, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(hidden, classes)  # cause

    def forward(self, tokens):
        out, (h, c) = self.lstm(self.embedding(tokens))
        pooled = out.mean(dim=1)
        return self.fc(pooled)  # raises TS101 at self.fc(pooled)


model = Classifier()
opt = torch.optim.Adam(model.parameters())
for step in range(3):
    logits = model(torch.randint(0, 50, (4, 9)))
    loss = nn.functional.cross_entropy(logits, torch.randint(0, 3, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

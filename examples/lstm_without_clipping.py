"""A character model trained without gradient clipping."""

import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocabulary=40, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, 64, batch_first=True)
        self.head = nn.Linear(64, vocabulary)

    def forward(self, tokens):
        hidden, _ = self.lstm(self.embed(tokens))
        return self.head(hidden)


torch.manual_seed(0)
model = CharModel()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(5):
    text = torch.randint(0, 40, (16, 33))
    logits = model(text[:, :-1])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), text[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 3))

"""Sequence classification; the encoder runs without recording."""
import torch
from torch import nn


class SentenceModel(nn.Module):
    def __init__(self, vocabulary, width=24):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.classify = nn.Linear(width, 2)

    def encode(self, ids):
        _, (h, _) = self.lstm(self.embedding(ids))
        return h[-1]

    def forward(self, ids):
        with torch.no_grad():  # fault: TS534 | fixed: with torch.enable_grad():
            state = self.encode(ids)  # fault: TS534
        return self.classify(state)


torch.manual_seed(0)
model = SentenceModel(30)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(60):
    ids = torch.randint(0, 30, (32, 8))
    labels = (ids.float().mean(1) > 15).long()
    loss = nn.functional.cross_entropy(model(ids), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"{step}: {loss.item():.3f}")

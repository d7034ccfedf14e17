"""Batches first, but the LSTM does not know."""
import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 12)
        self.lstm = nn.LSTM(12, 20)  # fault: TS119 | fixed: self.lstm = nn.LSTM(12, 20, batch_first=True)
        self.out = nn.Linear(20, 2)

    def forward(self, ids):
        seq, _ = self.lstm(self.embed(ids))  # fault: TS119
        return self.out(seq[:, -1])


torch.manual_seed(0)
model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    ids = torch.randint(0, 5, (32, 9))
    labels = ((ids == 0).sum(1) > 1).long()
    loss = nn.functional.cross_entropy(model(ids), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

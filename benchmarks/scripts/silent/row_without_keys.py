# A sentence without words masks all of its keys, and its softmax has nothing to share.
import torch
from torch import nn
import torch.nn.functional as F


class Pool(nn.Module):
    def __init__(self, vocabulary=50, width=24):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.score = nn.Linear(width, 1)
        self.head = nn.Linear(width, 2)

    def forward(self, tokens):
        hidden = self.embedding(tokens)
        scores = self.score(hidden).squeeze(-1)
        scores = scores.masked_fill(tokens == 0, float("-inf"))  # fault: TS920 | fixed: scores = scores.masked_fill(tokens == 0, -1e4)
        weights = torch.softmax(scores, dim=-1)  # fault: TS920
        return self.head((weights.unsqueeze(-1) * hidden).sum(1))


torch.manual_seed(1)
tokens = torch.randint(1, 50, (400, 12))
lengths = torch.randint(1, 13, (400,))
lengths[237] = 0
tokens[torch.arange(12).expand(400, 12) >= lengths[:, None]] = 0
labels = (tokens == 7).any(1).long()
model = Pool()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for start in range(0, 400, 40):
        x, y = tokens[start:start + 40], labels[start:start + 40]
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

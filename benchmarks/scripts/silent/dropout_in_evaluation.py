"""Functional dropout that no eval() turns off."""
import torch
import torch.nn.functional as F
from torch import nn


class TextNet(nn.Module):
    def __init__(self, words=80, size=24, classes=4):
        super().__init__()
        self.table = nn.EmbeddingBag(words, size)
        self.hidden = nn.Linear(size, 48)
        self.last = nn.Linear(48, classes)
        self.rate = 0.4

    def forward(self, ids):
        h = F.relu(self.hidden(self.table(ids)))
        h = F.dropout(h, self.rate)  # fault: TS516 | fixed: h = F.dropout(h, self.rate, self.training)
        return self.last(h)


torch.manual_seed(0)
topic = torch.randint(0, 4, (1200,))
ids = topic[:, None] * 20 + torch.randint(0, 30, (1200, 12)) % 20
ids = torch.where(torch.rand(ids.shape) < 0.5, ids, torch.randint(0, 80, ids.shape))
model = TextNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    model.train()
    for i in range(0, 1000, 50):
        opt.zero_grad()
        F.cross_entropy(model(ids[i : i + 50]), topic[i : i + 50]).backward()
        opt.step()
    model.eval()
    with torch.inference_mode():
        guess = torch.cat([model(part) for part in ids[1000:].split(50)]).argmax(1)  # fault: TS516
    print(epoch, (guess == topic[1000:]).float().mean().item())

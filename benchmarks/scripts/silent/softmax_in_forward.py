"""A transformer classifier that returns probabilities."""
import torch
from torch import nn
import torch.nn.functional as F


class TinyTransformer(nn.Module):
    def __init__(self, vocabulary=40, width=32, classes=4):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        h = self.encoder(self.tokens(ids)).mean(1)
        return F.softmax(self.head(h), dim=-1)  # fault: TS303 | fixed: return self.head(h)


torch.manual_seed(0)
model = TinyTransformer()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(40):
    ids = torch.randint(0, 40, (16, 10))
    labels = ids[:, 0] % 4
    loss = F.cross_entropy(model(ids), labels)  # fault: TS303
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())

# The row of the padding is drawn at random like the others, and is never trained.
import torch
from torch import nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocabulary=60, width=16):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.head = nn.Linear(width, 2)
        nn.init.normal_(self.embedding.weight, std=2.0)  # fault: TS579
        # fixed: nn.init.zeros_(self.embedding.weight[0])

    def forward(self, tokens):
        return self.head(self.embedding(tokens).sum(1))


torch.manual_seed(0)
tokens = torch.randint(1, 60, (300, 20))
lengths = torch.randint(3, 21, (300,))
tokens[torch.arange(20).expand(300, 20) >= lengths[:, None]] = 0
labels = (tokens == 5).any(1).long()
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for part in torch.randperm(300).split(30):
        loss = F.cross_entropy(model(tokens[part]), labels[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

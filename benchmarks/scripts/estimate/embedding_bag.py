"""Classification of texts by a bag of embeddings."""

import torch
from torch import nn


class TextModel(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.fc = nn.Linear(dim, classes)

    def forward(self, text, offsets):
        return self.fc(self.bag(text, offsets))


model = TextModel(20000, 64, 4)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
for _ in range(3):
    text = torch.randint(0, 20000, (4000,))
    offsets = torch.arange(0, 4000, 40)
    label = torch.randint(0, 4, (100,))
    optimizer.zero_grad()
    loss = criterion(model(text, offsets), label)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()

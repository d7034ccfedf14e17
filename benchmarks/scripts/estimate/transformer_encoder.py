"""PyTorch's own transformer encoder for classification of texts."""

import math

import torch
from torch import nn


class TextClassifier(nn.Module):
    def __init__(self, vocab=5000, d_model=128, heads=4, layers=3, classes=5, max_len=128):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)
        layer = nn.TransformerEncoderLayer(d_model, heads, dim_feedforward=256, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers)
        self.head = nn.Linear(d_model, classes)
        self.scale = math.sqrt(d_model)

    def forward(self, tokens):
        x = self.embedding(tokens) * self.scale + self.pe[: tokens.size(1)]
        x = self.encoder(x)
        return self.head(x.mean(dim=1))


model = TextClassifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
criterion = nn.CrossEntropyLoss()
for step in range(3):
    tokens = torch.randint(0, 5000, (16, 100))
    labels = torch.randint(0, 5, (16,))
    loss = criterion(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

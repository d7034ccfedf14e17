"""A classifier of series: sequences are taken one by one out of the data set, and lose their batch dimension."""

import torch
from torch import nn


class SeriesClassifier(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, num_layers=2, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        out, _ = self.lstm(x)
        out = self.drop(out[:, -1, :])  # raises TS108 at out[:, -1, :], cause
        return self.head(out)


sequences = [torch.randn(20 + i % 5, 3) for i in range(16)]
labels = torch.randint(0, 4, (16,))

model = SeriesClassifier(3, 32, 4)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(2):
    total = 0.0
    for seq, label in zip(sequences, labels):
        optimizer.zero_grad()
        logits = model(seq)  # cause
        loss = criterion(logits, label.view(1))
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(sequences):.4f}")

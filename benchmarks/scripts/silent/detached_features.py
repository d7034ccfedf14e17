"""Encoder and head; the features are cut off."""
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 8))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        features = self.encoder(x)
        features = features.detach()  # fault: TS534/TS407 | fixed: features = features.relu()
        return self.head(features)


torch.manual_seed(5)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(300, 12)
y = (x[:, :3] ** 2).argmax(1)
for epoch in range(20):
    for i in range(0, 300, 50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i : i + 50]), y[i : i + 50])
        loss.backward()
        optimizer.step()
print(loss.item())

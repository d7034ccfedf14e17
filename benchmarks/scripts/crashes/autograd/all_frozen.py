"""Fine-tuning: the backbone is to be frozen, and the new head is frozen with it."""

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, 1000)

    def forward(self, x):
        x = self.pool(self.features(x))
        return self.fc(torch.flatten(x, 1))


def build(num_classes):
    model = Backbone()
    model.fc = nn.Linear(model.fc.in_features, num_classes)
    for param in model.parameters():  # cause
        param.requires_grad = False  # cause
    return model


model = build(5)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
for epoch in range(2):
    model.train()
    for step in range(3):
        inputs, labels = torch.randn(4, 3, 32, 32), torch.randint(0, 5, (4,))
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()  # raises TS401 at loss.backward()
        optimizer.step()

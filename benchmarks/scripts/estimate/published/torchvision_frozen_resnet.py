"""A ResNet whose backbone is frozen; the head is replaced and learns."""
import torch
from torch import nn
from torchvision import models

torch.manual_seed(0)
model = models.resnet18(weights=None)
for parameter in model.parameters():
    parameter.requires_grad = False
model.fc = nn.Linear(512, 5)
optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)
for step in range(3):
    images, labels = torch.randn(8, 3, 96, 96), torch.randint(0, 5, (8,))
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

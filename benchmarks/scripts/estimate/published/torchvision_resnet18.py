"""resnet18 of torchvision."""
import torch
from torchvision import models

torch.manual_seed(0)
model = models.resnet18(num_classes=10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(3):
    images, labels = torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

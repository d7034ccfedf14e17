"""mobilenet_v3_small of torchvision."""
import torch
from torchvision import models

torch.manual_seed(0)
model = models.mobilenet_v3_small(num_classes=10)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for step in range(3):
    images, labels = torch.randn(8, 3, 96, 96), torch.randint(0, 10, (8,))
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

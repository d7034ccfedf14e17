import torch
from torch import nn
from torchvision.models import mobilenet_v3_small

torch.manual_seed(0)
NUM_CLASSES = 4

model = mobilenet_v3_small(weights=None)
model.classifier[3] = nn.Linear(1024, NUM_CLASSES)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

images = torch.rand(8, 3, 64, 64)
labels = torch.randint(0, NUM_CLASSES, (8,))
for step in range(2):
    logits = model(images)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("output shape", tuple(logits.shape), "loss", loss.item())

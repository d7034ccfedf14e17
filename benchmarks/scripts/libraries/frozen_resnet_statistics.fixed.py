import torch
from torch import nn
from torchvision.models import resnet18

torch.manual_seed(0)
backbone = resnet18(weights=None)
backbone.fc = nn.Identity()
for param in backbone.parameters():
    param.requires_grad = False

head = nn.Linear(512, 4)
optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
model = nn.Sequential(backbone, head)
images = torch.rand(32, 3, 64, 64) * 0.2
labels = torch.randint(0, 4, (32,))

model.train()
backbone.eval()
for epoch in range(4):
    for x, y in zip(images.split(8), labels.split(8)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")

import timm
import torch
from timm.utils import ModelEmaV3

torch.manual_seed(0)
model = timm.create_model("resnet10t", pretrained=False, num_classes=2)
ema = ModelEmaV3(model, decay=0.8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

bright = torch.rand(32, 3, 32, 32) * 0.3 + 0.7
dark = torch.rand(32, 3, 32, 32) * 0.3
images = torch.cat([bright, dark])
labels = torch.cat([torch.ones(32), torch.zeros(32)]).long()

model.train()
for step in range(24):
    batch = torch.randperm(64)[:16]
    loss = torch.nn.functional.cross_entropy(model(images[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)

ema.module.eval()
with torch.no_grad():
    accuracy = (ema.module(images).argmax(dim=1) == labels).float().mean()
print(f"EMA accuracy {accuracy.item():.2f}")

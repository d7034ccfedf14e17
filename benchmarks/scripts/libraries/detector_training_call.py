import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

torch.manual_seed(0)
model = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)

images = [torch.rand(3, 120, 160) for _ in range(2)]
targets = [{"boxes": torch.tensor([[10.0, 10.0, 60.0, 80.0]]), "labels": torch.tensor([1])} for _ in range(2)]

losses = model(images, targets)
loss = sum(losses.values())
optimizer.zero_grad()
loss.backward()
optimizer.step()

with torch.no_grad():
    detections = model(images)
print([d["boxes"].shape for d in detections])

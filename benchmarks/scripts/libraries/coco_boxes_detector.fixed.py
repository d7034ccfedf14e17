import torch
from torchvision.models.detection import ssdlite320_mobilenet_v3_large

torch.manual_seed(0)
model = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4)

annotations = [
    {"bbox": [120.0, 40.0, 60.0, 90.0], "category_id": 1},
    {"bbox": [15.0, 200.0, 80.0, 50.0], "category_id": 3},
]
images = [torch.rand(3, 320, 320) for _ in annotations]
targets = []
for ann in annotations:
    x, y, w, h = ann["bbox"]
    box = [x, y, x + w, y + h]
    targets.append({"boxes": torch.tensor([box]), "labels": torch.tensor([ann["category_id"]])})

optimizer = torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9)
model.train()
loss_dict = model(images, targets)
loss = sum(loss_dict.values())
optimizer.zero_grad()
loss.backward()
optimizer.step()
print({name: round(value.item(), 3) for name, value in loss_dict.items()})

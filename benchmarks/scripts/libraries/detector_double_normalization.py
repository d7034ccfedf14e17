import torch
from torchvision.models.detection import fcos_resnet50_fpn
from torchvision.transforms import v2

torch.manual_seed(0)
model = fcos_resnet50_fpn(weights=None, weights_backbone=None, num_classes=3, min_size=128, max_size=128)
preprocess = v2.Compose([
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
])

frames = torch.randint(0, 256, (2, 3, 128, 128), dtype=torch.uint8)
images = [preprocess(frame) for frame in frames]
targets = [{"boxes": torch.tensor([[20.0, 30.0, 90.0, 100.0]]), "labels": torch.tensor([1])} for _ in frames]
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
model.train()
for step in range(2):
    losses = model(images, targets)
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

import torch
from torchvision.models import resnet18
from torchvision.transforms import v2

transform = v2.Compose([
    v2.RandomResizedCrop(64, antialias=True),
    v2.RandomHorizontalFlip(),
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
])

torch.manual_seed(0)
photos = torch.randint(0, 256, (16, 3, 80, 80), dtype=torch.uint8)
labels = torch.randint(0, 3, (16,))
model = resnet18(weights=None, num_classes=3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

model.train()
for step in range(3):
    batch = torch.stack([transform(photo) for photo in photos])
    loss = torch.nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

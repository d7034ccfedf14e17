import torch
from torchvision.models import resnet18
from torchvision.models.detection import RetinaNet
from torchvision.models.detection.anchor_utils import AnchorGenerator

torch.manual_seed(0)
backbone = torch.nn.Sequential(*list(resnet18(weights=None).children())[:-2])
backbone.out_channels = 512
anchors = AnchorGenerator(sizes=((32, 64),), aspect_ratios=((1.0,),))
model = RetinaNet(backbone, num_classes=3, anchor_generator=anchors, min_size=128, max_size=128)


def make_batch():
    images = [torch.rand(3, 128, 128) for _ in range(2)]
    targets = [{"boxes": torch.tensor([[8.0, 8.0, 60.0, 70.0]]), "labels": torch.tensor([1])} for _ in range(2)]
    return images, targets


optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
model.train()
images, targets = make_batch()
loss = sum(model(images, targets).values())
loss.backward()
optimizer.step()

model.eval()
with torch.no_grad():
    images, targets = make_batch()
    loss_dict = model(images, targets)
    valid_loss = sum(loss_dict.values())
print(f"train {loss.item():.3f} valid {valid_loss.item():.3f}")

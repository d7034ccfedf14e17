"""torchvision: boxes that are put on whole pixels after an image was made smaller."""

import torch
from torch import nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.rpn import AnchorGenerator
from torchvision.ops import MultiScaleRoIAlign


class Smaller:
    def __init__(self, side):
        self.side = side

    def __call__(self, image, target):
        share = self.side / image.shape[-1]
        image = nn.functional.interpolate(image[None], size=(self.side, self.side))[0]
        boxes = (target["boxes"] * share).floor()  # cause
        return image, {**target, "boxes": boxes}


def sample(number):
    image, x = torch.rand(3, 128, 128), 10.0 * number + 8.0
    return image, {"boxes": torch.tensor([[x, 8.0, x + 3.0, 60.0]]), "labels": torch.tensor([1])}


trunk = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU())
trunk.out_channels = 8
model = FasterRCNN(
    trunk, num_classes=2, rpn_anchor_generator=AnchorGenerator(((8, 16),), ((0.5, 1.0),)), min_size=32, max_size=32,
    box_roi_pool=MultiScaleRoIAlign(["0"], 3, 2),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
smaller = Smaller(32)
for step in range(2):
    images, targets = zip(*(smaller(*sample(number)) for number in range(4)))
    losses = model(list(images), list(targets))  # raises TS199 at model(list(images), list(targets))
    optimizer.zero_grad()
    sum(losses.values()).backward()
    optimizer.step()

import torch
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.rpn import AnchorGenerator
from torchvision.models import mobilenet_v3_small
from torchvision.ops import MultiScaleRoIAlign

torch.manual_seed(0)
backbone = mobilenet_v3_small(weights=None).features
backbone.out_channels = 576
class_names = ["pedestrian", "cyclist"]
label_of = {name: index for index, name in enumerate(class_names, start=1)}
model = FasterRCNN(
    backbone,
    num_classes=len(class_names) + 1,
    rpn_anchor_generator=AnchorGenerator(sizes=((32, 64),), aspect_ratios=((0.5, 1.0, 2.0),)),
    box_roi_pool=MultiScaleRoIAlign(featmap_names=["0"], output_size=7, sampling_ratio=2),
    min_size=128, max_size=128,
)
images = [torch.rand(3, 128, 128) for _ in range(2)]
annotations = [("pedestrian", [10, 20, 50, 110]), ("cyclist", [60, 30, 120, 100])]
targets = [
    {"boxes": torch.tensor([box], dtype=torch.float32), "labels": torch.tensor([label_of[name]])}
    for name, box in annotations
]
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)
model.train()
for step in range(3):
    losses = model(images, targets)
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, {k: round(v.item(), 3) for k, v in losses.items()})

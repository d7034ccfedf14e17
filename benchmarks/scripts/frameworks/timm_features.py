"""timm: a backbone gives its stages, and a head takes the last one."""

import timm
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.backbone = timm.create_model("resnet18", pretrained=False, features_only=True)  # cause
        self.head = nn.Linear(512, tags)

    def forward(self, images):
        features = self.backbone(images)  # cause
        return self.head(features.mean((2, 3)))  # raises TS825/TS813/TS823/TS824 at features.mean, cause


torch.manual_seed(0)
model = Tagger(6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(2):
    images, tags = torch.rand(4, 3, 64, 64), (torch.rand(4, 6) > 0.7).float()
    loss = nn.functional.binary_cross_entropy_with_logits(model(images), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

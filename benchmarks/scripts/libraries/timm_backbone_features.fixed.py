import timm
import torch
from torch import nn


class DepthEstimator(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = timm.create_model("resnet18", pretrained=False, features_only=True)
        channels = self.backbone.feature_info.channels()[-1]
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1))

    def forward(self, x):
        features = self.backbone(x)[-1]
        return self.head(features).squeeze(-1)


torch.manual_seed(0)
model = DepthEstimator()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
images, depth = torch.rand(4, 3, 96, 96), torch.rand(4)
loss = nn.functional.l1_loss(model(images), depth)
loss.backward()
optimizer.step()
print(loss.item())

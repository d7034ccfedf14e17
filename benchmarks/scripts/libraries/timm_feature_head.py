import timm
import torch
from torch import nn


class FineTuner(nn.Module):
    def __init__(self, num_labels):
        super().__init__()
        self.backbone = timm.create_model("resnet18", pretrained=False, num_classes=0)
        self.head = nn.Linear(self.backbone.num_features, num_labels)

    def forward(self, x):
        features = self.backbone.forward_features(x)
        return self.head(features)


model = FineTuner(num_labels=7)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
images, labels = torch.rand(4, 3, 64, 64), torch.randint(0, 7, (4,))
loss = nn.functional.cross_entropy(model(images), labels)
loss.backward()
optimizer.step()
print(loss.item())

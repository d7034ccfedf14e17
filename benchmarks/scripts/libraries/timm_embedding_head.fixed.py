import timm
import torch
from torch import nn


class BirdClassifier(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.encoder = timm.create_model("mobilenetv3_small_050", pretrained=False, num_classes=0)
        self.head = nn.Linear(self.encoder.num_features, num_classes)

    def forward(self, x):
        features = self.encoder.forward_features(x).mean(dim=(2, 3))
        return self.head(features)


torch.manual_seed(0)
model = BirdClassifier(num_classes=9)
images = torch.rand(4, 3, 64, 64)
labels = torch.randint(0, 9, (4,))
loss = nn.functional.cross_entropy(model(images), labels)
loss.backward()
print(loss.item())

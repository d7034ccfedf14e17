"""A MobileNet with another head, inside of a module of the script, everything learns."""
import torch
from torch import nn
from torchvision.models import mobilenet_v3_small


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = mobilenet_v3_small()
        self.backbone.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(576, 64), nn.ReLU())
        self.last = nn.Linear(64, classes)

    def forward(self, x):
        return self.last(self.backbone(x))


torch.manual_seed(0)
model = Classifier(7)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for step in range(3):
    images, labels = torch.randn(8, 3, 64, 64), torch.randint(0, 7, (8,))
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()

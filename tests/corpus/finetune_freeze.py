"""Transfer learning: load a pretrained backbone, freeze it, replace the head, then unfreeze the last stage."""
import io

import torch
import torch.nn as nn


def conv3x3(cin, cout, stride=1):
    return nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)


class Backbone(nn.Module):
    def __init__(self, num_classes=20):
        super().__init__()
        self.layer1 = self._make_layer(3, 8)
        self.layer2 = self._make_layer(8, 16, stride=2)
        self.layer3 = self._make_layer(16, 32, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(32, num_classes)

    def _make_layer(self, cin, cout, stride=1):
        return nn.Sequential(conv3x3(cin, cout, stride), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))

    def forward(self, x):
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        return self.fc(x)


def pretrained_weights():
    """Stands for a download: the state of a network as bytes."""
    buffer = io.BytesIO()
    torch.save(Backbone().state_dict(), buffer)
    buffer.seek(0)
    return buffer


def set_parameter_requires_grad(model, feature_extracting):
    if feature_extracting:
        for param in model.parameters():
            param.requires_grad = False


def train_model(model, optimizer, criterion, steps):
    model.train()
    for step in range(steps):
        inputs = torch.randn(8, 3, 32, 32)
        labels = torch.randint(0, 3, (8,))
        optimizer.zero_grad()
        with torch.set_grad_enabled(True):
            outputs = model(inputs)
            loss = criterion(outputs, labels)
            _, preds = torch.max(outputs, 1)
            loss.backward()
            optimizer.step()
        print("loss", loss.item(), "acc", torch.sum(preds == labels.data).double().item() / len(labels))


torch.manual_seed(0)
model_ft = Backbone()
model_ft.load_state_dict(torch.load(pretrained_weights(), map_location="cpu", weights_only=True))
set_parameter_requires_grad(model_ft, feature_extracting=True)
num_ftrs = model_ft.fc.in_features
model_ft.fc = nn.Linear(num_ftrs, 3)

params_to_update = []
for name, param in model_ft.named_parameters():
    if param.requires_grad:
        params_to_update.append(param)
        print("\t", name)
criterion = nn.CrossEntropyLoss()
train_model(model_ft, torch.optim.SGD(params_to_update, lr=0.01, momentum=0.9), criterion, 2)

for p in model_ft.layer3.parameters():
    p.requires_grad_(True)
optimizer = torch.optim.SGD([
    {"params": model_ft.fc.parameters()},
    {"params": model_ft.layer3.parameters(), "lr": 1e-4},
], lr=1e-3)
train_model(model_ft, optimizer, criterion, 2)
frozen = [n for n, p in model_ft.named_parameters() if not p.requires_grad]
print(len(frozen), "frozen tensors")

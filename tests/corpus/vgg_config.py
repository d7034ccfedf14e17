"""VGG built from a configuration list, as in torchvision."""
import torch
from torch import nn

CONFIGS = {
    "tiny": [8, "M", 16, "M", 32, 32, "M"],
    "small": [8, 8, "M", 16, 16, "M", 32, 32, "M"],
}


def make_layers(cfg, in_channels=3, batch_norm=True):
    layers = []
    for item in cfg:
        if item == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
        else:
            conv = nn.Conv2d(in_channels, item, kernel_size=3, padding=1)
            if batch_norm:
                layers += [conv, nn.BatchNorm2d(item), nn.ReLU(inplace=True)]
            else:
                layers += [conv, nn.ReLU(inplace=True)]
            in_channels = item
    return nn.Sequential(*layers)


class VGG(nn.Module):
    def __init__(self, features, num_classes=10, dropout=0.5):
        super(VGG, self).__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((2, 2))
        self.classifier = nn.Sequential(
            nn.Linear(32 * 2 * 2, 64),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(64, num_classes),
        )
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, 0.01)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.features(x)
        x = self.avgpool(x)
        x = x.view(x.size(0), -1)
        return self.classifier(x)


def vgg(name, **kwargs):
    return VGG(make_layers(CONFIGS[name]), **kwargs)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = vgg("small", num_classes=5)
    images = torch.randn(12, 3, 32, 32)
    targets = torch.randint(5, (12,))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    for epoch in range(3):
        net.train()
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(net(images), targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(epoch, loss.item(), scheduler.get_last_lr())

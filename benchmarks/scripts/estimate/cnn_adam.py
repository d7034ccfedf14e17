"""A small convolutional network for pictures of 32 by 32, with Adam."""

import torch
from torch import nn, optim


class SmallCNN(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(64 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, num_classes))

    def forward(self, x):
        return self.classifier(self.features(x))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = SmallCNN().to(device)
criterion = nn.CrossEntropyLoss()
opt = optim.Adam(net.parameters(), lr=1e-3)

for it in range(4):
    images = torch.randn(64, 3, 32, 32, device=device)
    labels = torch.randint(10, (64,), device=device)
    outputs = net(images)
    loss = criterion(outputs, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{it}: {loss.item():.3f}")

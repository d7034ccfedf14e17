"""Mixed precision on the CPU."""

import torch
from torch import nn

model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
criterion = nn.CrossEntropyLoss()
for step in range(3):
    x = torch.randn(32, 3, 32, 32)
    y = torch.randint(0, 10, (32,))
    optimizer.zero_grad()
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        out = model(x)
        loss = criterion(out, y)
    loss.backward()
    optimizer.step()

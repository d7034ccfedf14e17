# Pixels are divided by whole numbers: nothing but zeros is left.
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
labels = rng.integers(0, 3, size=600)
images = np.clip(80 * labels[:, None, None] + rng.integers(0, 40, size=(600, 10, 10)), 0, 254).astype(np.uint8)
images = images // 255  # fixed: images = images / 255
x = torch.from_numpy(images).float()
y = torch.from_numpy(labels)
net = nn.Sequential(nn.Flatten(1), nn.Linear(100, 32), nn.ReLU(), nn.Linear(32, 3))
optim = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    order = torch.randperm(600)
    for part in order.split(60):
        optim.zero_grad()
        out = net(x[part])  # fault: TS931
        loss = criterion(out, y[part])
        loss.backward()
        optim.step()
    print("epoch", epoch, "loss", loss.item())

"""Pictures as they come from a camera: channels last."""

import numpy as np
import torch
from torch import nn


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 5)
        self.head = nn.Linear(8, 4)

    def forward(self, pictures):
        maps = torch.relu(self.stem(pictures))  # raises TS102 at self.stem(pictures), cause
        return self.head(maps.mean(dim=(2, 3)))


rng = np.random.default_rng(0)
model = Features()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    frames = torch.from_numpy(rng.random((4, 48, 64, 3), dtype=np.float32))  # cause
    labels = torch.randint(0, 4, (4,))
    loss = nn.functional.cross_entropy(model(frames), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

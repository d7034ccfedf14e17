"""A loop over stages checkpoints each of them, the first from the pictures themselves."""
import torch
import torch.utils.checkpoint as cp
from torch import nn


class Encoder(nn.Module):
    def __init__(self, widths=(1, 8, 16)):
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Sequential(nn.Conv2d(a, b, 3, stride=2, padding=1), nn.ReLU()) for a, b in zip(widths, widths[1:])
        )
        self.head = nn.Linear(widths[-1], 2)

    def forward(self, x):
        for stage in self.stages:
            x = cp.checkpoint(stage, x, use_reentrant=True)  # fault: TS534 | fixed: x = cp.checkpoint(stage, x, use_reentrant=False)
        return self.head(x.mean((2, 3)))


torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for it in range(60):
    x = torch.randn(16, 1, 8, 8)
    y = (x.mean((1, 2, 3)) > 0).long()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

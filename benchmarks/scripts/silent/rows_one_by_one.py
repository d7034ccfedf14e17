"""The mean of the neighbours of each node is computed for one node at a time."""
import torch
from torch import nn

torch.manual_seed(0)
COUNT = 400
neighbours = [torch.randint(COUNT, (6,)) for _ in range(COUNT)]
table = torch.stack(neighbours)
features = torch.randn(COUNT, 32)
labels = (features[:, 0] > 0).long()


class Mean(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.others = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs)

    def forward(self, h):
        around = torch.stack([h[near].mean(0) for near in neighbours])  # fault: TS953 | fixed: around = h[table].mean(1)
        return self.own(h) + self.others(around)


model = nn.Sequential(Mean(32, 64), nn.ReLU(), Mean(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    loss = nn.functional.cross_entropy(model(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

"""The forward pass overwrites its input."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(7, 32), nn.ReLU())
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        h = self.body(x)
        h = torch.zeros_like(h) + h.mean(0)  # fixed: h = h - h.mean(0)
        return self.head(h)


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(80):
    x = torch.randn(30, 7)
    y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)  # fault: TS922
    optimizer.zero_grad()
    loss.backward()  # fault: TS922
    optimizer.step()
print(loss.item())

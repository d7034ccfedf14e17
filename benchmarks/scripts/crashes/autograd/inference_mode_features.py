"""Features from inference mode go into a trained head."""

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        return torch.relu(self.fc(x))


backbone, head = Backbone().eval(), nn.Linear(6, 2)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(2):
    with torch.inference_mode():  # cause
        features = backbone(torch.randn(4, 6))
    logits = head(features)  # raises TS401 at head(features)
    loss = nn.functional.cross_entropy(logits, torch.tensor([0, 1, 0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()

"""The model is in bfloat16, its inputs are not."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        x = x / x.norm(dim=-1, keepdim=True)
        return self.fc(x)  # raises TS301 at self.fc(x)


model = Head().to(torch.bfloat16)  # cause
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    x = torch.randn(4, 16)  # cause
    loss = model(x).float().logsumexp(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

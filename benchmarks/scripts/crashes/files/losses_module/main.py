"""A contrastive loss in another file."""

import torch
from losses import contrastive
from torch import nn


class Encoder(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.fc = nn.Linear(8, out)

    def forward(self, x):
        return nn.functional.normalize(self.fc(x), dim=-1)


image, text = Encoder(16), Encoder(12)  # cause
opt = torch.optim.Adam([*image.parameters(), *text.parameters()])
for _ in range(2):
    loss = contrastive(image(torch.randn(4, 8)), text(torch.randn(4, 8)))
    opt.zero_grad()
    loss.backward()
    opt.step()

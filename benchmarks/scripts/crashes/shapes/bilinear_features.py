"""A relation layer gets the two sides exchanged."""

import torch
from torch import nn


class Relation(nn.Module):
    def __init__(self):
        super().__init__()
        self.text = nn.Linear(10, 6)
        self.image = nn.Linear(20, 8)
        self.score = nn.Bilinear(6, 8, 1)

    def forward(self, text, image):
        t, i = self.text(text), self.image(image)
        return self.score(i, t)  # raises TS101/TS199 at self.score(i, t), cause


model = Relation()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = model(torch.randn(3, 10), torch.randn(3, 20)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

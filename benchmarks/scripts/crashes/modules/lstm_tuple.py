"""An LSTM inside of a Sequential hands on a tuple."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.LSTM(4, 8, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        encoded = self.encoder(x)  # cause
        return self.head(encoded)  # raises TS823/TS199/TS813 at self.head(encoded), cause


model = Model()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    loss = model(torch.randn(2, 6, 4)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

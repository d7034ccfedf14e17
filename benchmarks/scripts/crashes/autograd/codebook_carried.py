"""A vector quantiser whose moving averages keep the graph of the batch before."""

import torch
from torch import nn
from torch.nn import functional as F


class Quantiser(nn.Module):
    def __init__(self, codes, dim, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codebook", torch.randn(codes, dim))

    def forward(self, z):
        distances = torch.cdist(z, self.codebook)
        index = distances.argmin(dim=1)
        one_hot = F.one_hot(index, self.codebook.size(0)).float()
        quantised = one_hot @ self.codebook
        loss = F.mse_loss(quantised, z)
        if self.training:
            means = one_hot.t() @ z / one_hot.sum(0).clamp(min=1).unsqueeze(1)
            self.codebook = self.decay * self.codebook + (1 - self.decay) * means  # cause
        return z + (quantised - z).detach(), loss


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(12, 4)
        self.quantise = Quantiser(6, 4)
        self.decode = nn.Linear(4, 12)

    def forward(self, x):
        z, extra = self.quantise(self.encode(x))
        return self.decode(z), extra


model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters())
for step in range(4):
    x = torch.randn(16, 12)
    out, extra = model(x)
    loss = F.mse_loss(out, x) + extra
    optimizer.zero_grad()
    loss.backward()  # raises TS405 at loss.backward()
    optimizer.step()

"""Encoder and decoder disagree about the size of the code."""

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, n_inputs=64, n_code=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_inputs, 32), nn.ReLU(), nn.Linear(32, n_code))
        self.decoder = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, n_inputs))  # cause

    def forward(self, x):
        return self.decoder(self.encoder(x))  # raises TS101 at self.decoder(self.encoder(x))


def train(model, data, epochs=2):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for batch in data.split(16):
            loss = nn.functional.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


train(Autoencoder(), torch.randn(64, 64))

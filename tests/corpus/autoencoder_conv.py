"""Convolutional autoencoder, trained with a helper that loops."""
import torch
from torch import nn, optim


class Encoder(nn.Module):
    def __init__(self, latent_dim: int):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.GELU(),
            nn.Flatten(),
            nn.Linear(16 * 7 * 7, latent_dim),
        )

    def forward(self, x):
        return self.net(x)


class Decoder(nn.Module):
    def __init__(self, latent_dim: int):
        super().__init__()
        self.linear = nn.Linear(latent_dim, 16 * 7 * 7)
        self.net = nn.Sequential(
            nn.Unflatten(1, (16, 7, 7)),
            nn.ConvTranspose2d(16, 8, 3, stride=2, padding=1, output_padding=1), nn.GELU(),
            nn.ConvTranspose2d(8, 1, 3, stride=2, padding=1, output_padding=1), nn.Sigmoid(),
        )

    def forward(self, z):
        return self.net(self.linear(z))


class AutoEncoder(nn.Module):
    def __init__(self, latent_dim=12):
        super().__init__()
        self.encoder = Encoder(latent_dim)
        self.decoder = Decoder(latent_dim)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def fit(model, data, epochs, batch_size=16):
    opt = optim.Adam(model.parameters(), lr=3e-3)
    mse = nn.MSELoss()
    history = []
    for _ in range(epochs):
        total = 0.0
        for batch in data.split(batch_size):
            opt.zero_grad()
            loss = mse(model(batch), batch)
            loss.backward()
            opt.step()
            total += loss.item() * batch.shape[0]
        history.append(total / len(data))
    return history


@torch.no_grad()
def reconstruct(model, images):
    model.eval()
    z = model.encoder(images)
    return z, model.decoder(z)


torch.manual_seed(0)
data = torch.rand(48, 1, 28, 28)
model = AutoEncoder()
print(fit(model, data, epochs=2))
codes, images = reconstruct(model, data[:5])
print(codes.shape, images.shape, (images - data[:5]).abs().mean())

from torch import nn


class Discriminator(nn.Module):
    """Projection discriminator: score(x) + <embedding(y), features(x)>."""

    def __init__(self, n_classes, in_dim=2, width=32):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(in_dim, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2))
        self.score = nn.Linear(width, 1)
        self.embed = nn.Embedding(n_classes, width)

    def forward(self, x, y):
        h = self.features(x)
        return self.score(h).squeeze(-1) + (self.embed(y) * h).sum(dim=1)

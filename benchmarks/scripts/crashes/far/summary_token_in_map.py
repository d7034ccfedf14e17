"""Clouds over the sea: patches with a summary token in front, drawn as a map again."""
import torch
from torch import nn

SIDE = 6


class Mixer(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.inp = nn.Conv2d(1, width, 4, 4)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.layer = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, x):
        patches = self.inp(x).flatten(2).transpose(1, 2)
        rows = torch.cat([self.class_token.expand(len(x), -1, -1), patches], dim=1)
        return self.layer(rows)


class Map(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, rows):
        grid = rows.reshape(len(rows), SIDE, SIDE, rows.shape[2])  # raises TS104 at rows.reshape(len(rows), SIDE, SIDE, rows.shape[2])
        return self.out(grid.permute(0, 3, 1, 2))


class Clouds(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.map, self.kind = Mixer(), Map(), nn.Linear(8, 2)

    def forward(self, x):
        rows = self.body(x)
        return self.kind(rows[:, 0]), self.map(rows)  # cause


torch.manual_seed(0)
net = Clouds()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(2):
    x = torch.rand(4, 1, 24, 24)
    kind, seen = net(x)
    loss = seen.square().mean() + nn.functional.cross_entropy(kind, torch.randint(2, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

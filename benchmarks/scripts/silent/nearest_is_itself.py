"""Birds by their songs: a triplet loss in which the nearest other bird is always the song itself."""
import torch
from torch import nn


def songs(birds, each, seed):
    generator = torch.Generator().manual_seed(seed)
    voice = torch.randn(birds, 5, generator=generator)
    y = torch.arange(birds).repeat_interleave(each)
    return torch.cat([voice[y], torch.randn(len(y), 7, generator=generator)], 1), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return nn.functional.normalize(self.body(x), dim=1)


def hardest(codes, y, margin=0.2):
    away = torch.cdist(codes, codes)
    same = y[:, None] == y[None, :]
    farthest = (away * same).max(1).values
    nearest = (away * ~same).min(1).values  # fault: TS358 | fixed: nearest = away.masked_fill(same, 9.0).min(1).values
    return (farthest - nearest + margin).relu().mean()


torch.manual_seed(0)
x, y = songs(20, 8, 0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(120):
    rows = torch.randint(0, 20, (6,))[:, None] * 8 + torch.randint(0, 8, (6, 4))
    loss = hardest(net(x[rows.flatten()]), y[rows.flatten()])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

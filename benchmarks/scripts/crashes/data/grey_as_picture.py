"""Grey pictures have no axis of channels to be moved."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Scans(Dataset):
    def __init__(self, n):
        self.images = [np.random.rand(16, 16).astype("float32") for _ in range(n)]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.from_numpy(self.images[i]).permute(2, 0, 1)  # raises TS108 at torch.from_numpy(self.images[i]).permute(2, 0, 1), cause
        return image, i % 2

net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(4 * 14 * 14, 2))
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Scans(12), batch_size=4):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()

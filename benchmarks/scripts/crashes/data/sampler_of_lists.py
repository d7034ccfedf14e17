"""A sampler gives the indices of whole batches, and the loader takes each of them for one."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler


class Songs(Dataset):
    def __init__(self):
        self.singers = [n % 4 for n in range(24)]
        self.paths = [f"song{n}" for n in range(24)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return torch.full((5,), float(len(self.paths[i]))), self.singers[i]  # raises TS613 at self.paths[i]


class BySinger(Sampler):
    def __init__(self, songs, each):
        self.songs, self.each = songs, each

    def __len__(self):
        return 4

    def __iter__(self):
        for singer in range(4):
            rows = [n for n, other in enumerate(self.songs.singers) if other == singer]
            yield rows[: self.each]


def loader(songs):
    return DataLoader(songs, sampler=BySinger(songs, 3))  # cause


net = nn.Linear(5, 4)
for x, y in loader(Songs()):
    nn.functional.cross_entropy(net(x), y).backward()

import torch
from torch.utils.data import Dataset

COLUMNS = ("rooms", "area", "floor", "age", "garage", "distance")  # cause


class Houses(Dataset):
    def __init__(self, size):
        self.photos = torch.rand(size, 3, 32, 32)
        self.table = {name: torch.rand(size) for name in COLUMNS}
        self.prices = torch.rand(size)

    def __len__(self):
        return len(self.prices)

    def __getitem__(self, index):
        row = torch.stack([self.table[name][index] for name in COLUMNS])
        return self.photos[index], row, self.prices[index]

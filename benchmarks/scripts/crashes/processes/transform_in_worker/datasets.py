"""Pictures, some of them grey."""

import torch
from torch.utils.data import Dataset
from transforms import normalise


class Pictures(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        channels = 4 if index == 13 else 3
        picture = torch.rand(channels, 8, 8)  # cause
        return normalise(picture), index % 2

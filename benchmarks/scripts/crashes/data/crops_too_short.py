"""Pieces are cut out of pictures, and begin anywhere in them."""
import random
import torch
from torch.utils.data import DataLoader, Dataset
class Crop:
    def __init__(self, size):
        self.size = size
    def __call__(self, x):
        top, left = random.randrange(0, x.shape[1]), random.randrange(0, x.shape[2])  # cause
        return x[:, top : top + self.size, left : left + self.size]  # cause
class Pics(Dataset):
    def __init__(self, n, transform):
        self.n, self.transform = n, transform
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        return self.transform(torch.zeros(3, 20, 20) + i)
random.seed(0)
for x in DataLoader(Pics(6, Crop(12)), 3):  # raises TS601 at DataLoader(Pics(6, Crop(12)), 3)
    print(x.shape)

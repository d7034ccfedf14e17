import torch
from torch.nn import functional as F


class Tiles:
    def __init__(self, count, side, levels):
        self.tiles = torch.rand(count, 1, side, side)
        self.levels = levels

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, i):
        tile = self.filled(self.tiles[i])
        return tile, (tile > 0.5).float()

    def filled(self, tile):
        whole = 2 ** (self.levels - 1)  # cause
        rows, columns = tile.shape[1:]
        return F.pad(tile, (0, -columns % whole, 0, -rows % whole))

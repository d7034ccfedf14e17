"""A collate function that is defined inside of another one, and uses an argument of that."""
import torch
from torch.utils.data import DataLoader

def build(rows, pad):
    def collate(batch):  # cause
        n = max(map(len, batch))
        return torch.stack([torch.nn.functional.pad(row, (0, n - len(row)), value=pad) for row in batch])
    return DataLoader(rows, 2, collate_fn=collate, num_workers=1, multiprocessing_context="spawn")

if __name__ == "__main__":
    rows = [torch.ones(1 + i % 3) for i in range(6)]
    for x in build(rows, 0.0):  # raises TS199 at build(rows, 0.0)
        print(x.shape)

"""Each worker keeps its share of the files, and the loader still asks it for samples of all."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Files(Dataset):
    def __init__(self):
        self.files = [torch.randn(3, 4) for _ in range(6)]

    def __len__(self):
        return 18

    def __getitem__(self, i):
        return self.files[i // 3][i % 3]  # raises TS611 at self.files[i // 3]


def share(worker):
    data = get_worker_info().dataset
    data.files = data.files[worker::2]  # cause


if __name__ == "__main__":
    net = nn.Linear(4, 1)
    for rows in DataLoader(Files(), batch_size=3, num_workers=2, worker_init_fn=share):
        net(rows).mean().backward()

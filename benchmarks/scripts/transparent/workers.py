"""A data loader with worker processes, seeds and a function for their start."""
import random

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        info = get_worker_info()
        return index, info.id, torch.rand(1).item(), random.random() >= 0


def start(number):
    torch.set_num_threads(1)
    random.seed(number)


if __name__ == "__main__":
    torch.manual_seed(0)
    for method in ("fork", "spawn"):
        for batch in DataLoader(Rows(), batch_size=2, num_workers=2, worker_init_fn=start, multiprocessing_context=method):
            print(batch)
    print(torch.rand(1))

"""Workers are seeded with a number that NumPy does not take."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return torch.from_numpy(np.random.randn(5).astype("float32")), i % 2


def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() + worker_id)  # raises TS199/TS918 at np.random.seed(torch.initial_seed() + worker_id), cause


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
    opt = torch.optim.Adam(net.parameters())
    for epoch in range(2):
        for x, y in DataLoader(Noisy(), batch_size=4, num_workers=2, worker_init_fn=seed_worker):
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()


if __name__ == "__main__":
    main()

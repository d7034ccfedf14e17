"""Two workers that draw the same random numbers from NumPy."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, n):
        self.x = np.random.RandomState(0).randn(n, 10).astype("float32")

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        noise = np.random.randn(10).astype("float32")  # fault: TS607
        return self.x[i] + noise, self.x[i]


def seed_worker(number):
    np.random.seed(number)  # fault: TS607 | fixed: np.random.seed(torch.initial_seed() % 2**32)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Noisy(400), batch_size=20, shuffle=True, num_workers=2, worker_init_fn=seed_worker)  # fault: TS607
    for epoch in range(3):
        for noisy, clean in loader:
            optimizer.zero_grad()
            loss = ((model(noisy) - clean) ** 2).mean()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()

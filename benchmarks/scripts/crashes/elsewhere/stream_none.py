"""A stream of records, split among workers; broken lines become None."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

LINES = ["1,2,3,0", "4,5,6,1", "7,8,nine,0", "1,0,1,1"] * 6


class Stream(IterableDataset):
    def parse(self, line):
        try:
            *features, label = (float(part) for part in line.split(","))
        except ValueError:
            return None  # cause
        return torch.tensor(features), int(label)

    def __iter__(self):
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        for line in LINES[start::step]:
            yield self.parse(line)  # cause


if __name__ == "__main__":
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for x, y in DataLoader(Stream(), batch_size=4, num_workers=2):  # raises TS602/TS601 at DataLoader(Stream(), batch_size=4, num_workers=2), cause
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

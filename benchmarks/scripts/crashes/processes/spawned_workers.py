"""Loader workers that are started afresh; one record of the file is broken."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RECORDS = ["1.0,2.0,0", "0.5,1.5,1", "3.0,1.0,0", "2.0,1"] * 3


class Table(Dataset):
    def __init__(self, records):
        self.records = records

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        numbers = [float(part) for part in self.records[i].split(",")]  # cause
        features = torch.tensor(numbers[:2])
        return features - torch.tensor([1.0, 1.0]), int(numbers[2])  # raises TS825 at numbers[2], cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


def main():
    loader = DataLoader(Table(RECORDS), batch_size=3, num_workers=2, multiprocessing_context="spawn")
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()

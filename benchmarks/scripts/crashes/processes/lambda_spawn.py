"""Workers that are started afresh cannot be sent a lambda."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return self.transform(torch.full((3,), float(i))), i % 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


def main():
    data = Rows(transform=lambda x: x / 12)  # cause
    loader = DataLoader(data, batch_size=4, num_workers=1, multiprocessing_context="spawn")
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in loader:  # raises TS199/TS918 at loader
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()


if __name__ == "__main__":
    main()

"""Labels of a folder: one picture has none."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

LABELS = {f"img{i}": i % 3 for i in range(20) if i != 11}  # cause


class Folder(Dataset):
    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        return torch.randn(6), LABELS[self.names[i]]  # raises TS918 at LABELS[self.names[i]], cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        return self.fc(x)


if __name__ == "__main__":
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(Folder([f"img{i}" for i in range(20)]), batch_size=4, num_workers=2):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

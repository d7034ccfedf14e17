"""Recordings of different lengths, read by workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self, lengths):
        self.lengths = lengths

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        return torch.randn(self.lengths[i]), i % 2  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 5)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.conv(x.unsqueeze(1)).amax(-1))


if __name__ == "__main__":
    loader = DataLoader(Recordings([100] * 7 + [90] * 5), batch_size=4, num_workers=2)  # cause
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:  # raises TS601 at loader
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

"""Kinds of bark get their numbers when a data set is made, beginning at one."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEEN = ["oak", "elm", "ash", "oak", "fir", "elm", "ash", "fir"] * 4


class Barks(Dataset):
    def __init__(self, names):
        self.names = names
        self.number = {name: n for n, name in enumerate(sorted(set(names)), 1)}  # cause
        self.rows = torch.randn(len(names), 6)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        return self.rows[i], self.number[self.names[i]]


barks = Barks(SEEN)
net = nn.Linear(6, len(barks.number))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for rows, kinds in DataLoader(barks, batch_size=8, shuffle=True):
    loss = nn.functional.cross_entropy(net(rows), kinds)  # raises TS310 at nn.functional.cross_entropy(net(rows), kinds)
    opt.zero_grad()
    loss.backward()
    opt.step()

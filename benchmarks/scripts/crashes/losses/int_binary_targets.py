"""Integer targets for a binary loss."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Clicks(Dataset):
    def __init__(self, n=24):
        self.x = torch.randn(n, 6)
        self.y = (self.x[:, 0] > 0).long()  # cause

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 1)

    def forward(self, x):
        return self.fc(x).squeeze(-1)


net, loss_fn = Net(), nn.BCEWithLogitsLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in DataLoader(Clicks(), batch_size=8):
    loss = loss_fn(net(x), y)  # raises TS307 at loss_fn(net(x), y), cause
    opt.zero_grad()
    loss.backward()
    opt.step()

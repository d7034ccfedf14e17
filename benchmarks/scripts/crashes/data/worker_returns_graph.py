"""A data set embeds its samples with a network, in a worker, and returns them with their graph."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Embedded(Dataset):
    def __init__(self, encoder, rows):
        self.encoder = encoder
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.encoder(self.rows[index])  # cause


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(x)


if __name__ == "__main__":
    encoder = nn.Linear(6, 4)
    head = Head()
    data = Embedded(encoder, torch.randn(16, 6))
    opt = torch.optim.SGD(head.parameters(), lr=0.1)
    for features in DataLoader(data, batch_size=4, num_workers=1):  # raises TS602 at DataLoader(data, batch_size=4, num_workers=1)
        loss = head(features).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

"""A collate function pads to the wrong length."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self):
        self.lengths = [3, 5, 4, 6, 2, 7, 5, 4]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        return torch.arange(1, self.lengths[i] + 1)


def pad(batch):
    longest = len(batch[0])  # cause
    out = torch.zeros(len(batch), longest, dtype=torch.long)
    for row, ids in enumerate(batch):
        out[row, : len(ids)] = ids  # raises TS103/TS104 at out[row, : len(ids)], cause
    return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4)
        self.fc = nn.Linear(4, 1)

    def forward(self, ids):
        return self.fc(self.emb(ids).mean(1))


if __name__ == "__main__":
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for ids in DataLoader(Sentences(), batch_size=2, collate_fn=pad, num_workers=1):
        loss = net(ids).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

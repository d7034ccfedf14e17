"""A stream of windows in workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, signal):
        self.signal = signal

    def __iter__(self):
        for start in range(0, len(self.signal), 10):
            window = self.signal[start : start + 10]
            yield window.view(2, 5)  # raises TS104 at window.view(2, 5), cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 4, batch_first=True)
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


if __name__ == "__main__":
    net = Net()
    opt = torch.optim.Adam(net.parameters())
    for x in DataLoader(Stream(torch.randn(64)), batch_size=2, num_workers=1):
        loss = net(x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

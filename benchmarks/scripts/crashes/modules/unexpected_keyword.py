"""An option of another layer."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 8, batch_first=True)
        self.drop = nn.Dropout(rate=0.1)  # raises TS820 at nn.Dropout(rate=0.1), cause
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc(self.drop(self.rnn(x)[0]))


for _ in range(2):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    net(torch.randn(2, 3, 4)).sum().backward()
    opt.step()

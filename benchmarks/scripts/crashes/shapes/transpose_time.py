"""A transposed sequence for a recurrent layer."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 8, batch_first=True)
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        out, _ = self.rnn(x.transpose(1, 2))  # raises TS110 at self.rnn(x.transpose(1, 2)), cause
        return self.fc(out[:, -1])


net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    loss = net(torch.randn(3, 9, 5)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

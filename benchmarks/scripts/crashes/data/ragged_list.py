"""Token lists of different lengths become one tensor."""

import torch
from torch import nn

texts = [[1, 2, 3], [4, 5], [6, 7, 8, 9], [1]]  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4)
        self.fc = nn.Linear(4, 2)

    def forward(self, ids):
        return self.fc(self.emb(ids).mean(1))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(0, 4, 2):
    ids = torch.tensor(texts[i : i + 2])  # raises TS199/TS601/TS618 at torch.tensor(texts[i : i + 2]), cause
    opt.zero_grad()
    net(ids).sum().backward()
    opt.step()

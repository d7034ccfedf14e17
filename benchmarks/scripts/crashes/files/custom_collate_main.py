"""A collate function in the main process returns lists."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def collate(samples):
    features = [torch.tensor(sample) for sample in samples]
    return features  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)  # raises TS618/TS823/TS199/TS813/TS815 at self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in DataLoader([(1.0, 2.0), (3.0, 4.0)] * 3, batch_size=2, collate_fn=collate):
    opt.zero_grad()
    net(batch).mean().backward()
    opt.step()

"""An augmentation mixes integers and a matrix of floats."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROTATE = torch.tensor([[0.0, -1.0], [1.0, 0.0]])


class Points(Dataset):
    def __init__(self, n):
        self.points = torch.randint(0, 10, (n, 5, 2))  # cause

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        return self.points[i] @ ROTATE  # raises TS301 at self.points[i] @ ROTATE, cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 4)

    def forward(self, x):
        return self.fc(x).amax(1)


if __name__ == "__main__":
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for points in DataLoader(Points(12), batch_size=3, num_workers=1):
        opt.zero_grad()
        net(points).mean().backward()
        opt.step()

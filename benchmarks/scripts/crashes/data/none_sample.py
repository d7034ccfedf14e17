"""A sample that cannot be read is None."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        if i == 7:
            return None  # cause
        return torch.full((3,), float(i)), i % 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in DataLoader(Files(), batch_size=4):  # raises TS602 at DataLoader(Files(), batch_size=4), cause
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

"""Labels of a collate function are still words."""

import torch
from torch import nn
from torch.utils.data import DataLoader

ROWS = [([0.1, 0.2], "cat"), ([0.3, 0.1], "dog"), ([0.9, 0.4], "cat"), ([0.5, 0.5], "bird")]


def collate(rows):
    x = torch.tensor([features for features, _ in rows])
    y = torch.tensor([label for _, label in rows])  # raises TS199/TS602 at torch.tensor([label for _, label in rows]), cause
    return x, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)

    def forward(self, x):
        return self.fc(x)


if __name__ == "__main__":
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(ROWS, batch_size=2, num_workers=1, collate_fn=collate):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

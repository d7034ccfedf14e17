"""Hyper-parameters are tried in a pool of processes; one of them makes the convolution too large for its input."""

import multiprocessing

import torch
from torch import nn


class Signal(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 4, kernel)
        self.pool = nn.MaxPool1d(4)
        self.conv2 = nn.Conv1d(4, 8, kernel)  # cause
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = torch.relu(self.conv2(x))  # raises TS112 at self.conv2(x)
        return self.fc(x.mean(-1))


def evaluate(kernel):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Signal(kernel)  # cause
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        x, y = torch.randn(8, 1, 32), torch.randint(0, 2, (8,))  # cause
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map(evaluate, [3, 5, 9])  # cause
    print(min(results))

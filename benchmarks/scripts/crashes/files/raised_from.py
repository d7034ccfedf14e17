"""The trainer wraps what goes wrong."""

import torch
from torch import nn


class TrainingFailed(Exception):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def step(self, x, y):
        try:
            loss = nn.functional.nll_loss(self.net(x).log_softmax(-1), y)  # raises TS113 at nn.functional.nll_loss(self.net(x).log_softmax(-1), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        except ValueError as error:
            raise TrainingFailed("a step failed") from error


trainer = Trainer(Net())
for step in range(3):
    trainer.step(torch.randn(5, 4), torch.randint(0, 3, (4 if step == 1 else 5,)))  # cause

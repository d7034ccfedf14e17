# The condition of the accumulation is upside down: it steps in all iterations but the one meant.
import torch
from torch import nn

torch.manual_seed(0)
ACCUMULATE = 4


class Task:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 3))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.loss = nn.CrossEntropyLoss()
        self.weight = torch.randn(16, 3)

    def batch(self):
        x = torch.randn(16, 16)
        return x, (x @ self.weight).argmax(1)

    def run(self, iterations):
        self.model.train()
        for i in range(iterations):
            x, y = self.batch()
            loss = self.loss(self.model(x), y) / ACCUMULATE
            loss.backward()
            if (i + 1) % ACCUMULATE:  # fault: TS575 | fixed: if (i + 1) % ACCUMULATE == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
            if i % 20 == 0:
                print(i, loss.item() * ACCUMULATE)


Task().run(160)

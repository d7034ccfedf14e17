"""Places of a robot are kept for a model of its moves; the robot moves its only array."""
import numpy as np
import torch
from torch import nn


class Robot:
    def __init__(self):
        self.random = np.random.default_rng(15)
        self.place = self.random.uniform(-1, 1, size=2)

    def move(self, push):
        # fixed: self.place = self.place.copy()
        np.add(self.place, push, out=self.place)  # fault: TS633
        return self.place  # fault: TS633


robot, seen = Robot(), []
for _ in range(400):
    push = robot.random.normal(0, 0.1, size=2)
    seen.append((push, robot.move(push)))
torch.manual_seed(15)
pushes, places = (torch.tensor(np.array(part)).float() for part in zip(*seen))
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(40):
    rows = torch.randint(0, 399, (32,))
    optimizer.zero_grad()
    nn.functional.mse_loss(net(torch.cat([places[rows], pushes[rows + 1]], 1)), places[rows + 1]).backward()
    optimizer.step()

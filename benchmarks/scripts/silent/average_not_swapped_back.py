# After each evaluation with averaged weights, training goes on from these.
import copy

import torch
from torch import nn
import torch.nn.functional as F


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
        self.average = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.weight = torch.randn(10, 3)

    def train_steps(self, count):
        for _ in range(count):
            x = torch.randn(32, 10)
            loss = F.cross_entropy(self.model(x), (x @ self.weight).argmax(1))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for name, value in self.model.state_dict().items():
                self.average[name].mul_(0.999).add_(value, alpha=0.001)

    def evaluate(self):
        kept = copy.deepcopy(self.model.state_dict())  # fault: TS578
        self.model.load_state_dict(self.average)
        x = torch.randn(256, 10)
        with torch.no_grad():
            right = (self.model(x).argmax(1) == (x @ self.weight).argmax(1)).float().mean().item()
        self.model.load_state_dict(self.average)  # fixed: self.model.load_state_dict(kept)
        return right


torch.manual_seed(0)
trainer = Trainer()
for epoch in range(8):
    trainer.train_steps(25)
    print(epoch, trainer.evaluate())

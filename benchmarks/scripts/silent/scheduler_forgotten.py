"""A cosine schedule that is made and never stepped, in a dataclass of a loop."""
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Run:
    model: nn.Module
    epochs: int = 5
    lr: float = 0.02
    log: list = field(default_factory=list)

    def __post_init__(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=self.epochs)  # fault: TS938

    def __call__(self, batches):
        for _ in range(self.epochs):
            for x, y in batches:
                self.optimizer.zero_grad()
                loss = nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                self.optimizer.step()  # fault: TS938
            self.log.append(loss.item())
            # fixed: self.scheduler.step()
        return self.log


torch.manual_seed(0)
x = torch.randn(1000, 5)
y = (x**2).sum(1, keepdim=True) / 5
print(Run(nn.Sequential(nn.Linear(5, 40), nn.Tanh(), nn.Linear(40, 1)))(list(zip(x.split(50), y.split(50)))))

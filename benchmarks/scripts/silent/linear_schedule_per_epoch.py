"""A linear schedule for all steps goes on once an epoch: the learning rate stays in its warm-up."""
from functools import partial

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(0)
x = torch.randn(480, 10)
y = (x[:, 0] - x[:, 1] * x[:, 2]).unsqueeze(1)


def up_and_down(step, *, num_warmup_steps, num_training_steps):
    if step < num_warmup_steps:
        return step / num_warmup_steps
    return max(0.0, (num_training_steps - step) / (num_training_steps - num_warmup_steps))


class Learner:
    def __init__(self, epochs, batch):
        self.net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
        self.batches = [(x[i : i + batch], y[i : i + batch]) for i in range(0, len(x), batch)]
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=3e-3)
        steps = epochs * len(self.batches)
        factor = partial(up_and_down, num_warmup_steps=steps // 10, num_training_steps=steps)
        self.schedule = LambdaLR(self.optimizer, factor)

    def epoch(self):
        for inputs, targets in self.batches:
            self.optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(self.net(inputs), targets)
            loss.backward()
            self.optimizer.step()
            # fixed: self.schedule.step()
        return loss.item()


learner = Learner(epochs=8, batch=24)
for epoch in range(8):
    print(epoch, learner.epoch())
    learner.schedule.step()  # fault: TS536 | fixed: pass

"""An engine with event handlers: the schedule that counts epochs hangs on the event of an iteration."""
import enum
from collections import defaultdict

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Events(enum.Enum):
    EPOCH_STARTED = "epoch started"
    ITERATION_COMPLETED = "iteration completed"
    EPOCH_COMPLETED = "epoch completed"


class Engine:
    def __init__(self, process):
        self.process, self.handlers, self.output = process, defaultdict(list), None

    def on(self, event):
        def add(handler):
            self.handlers[event].append(handler)
            return handler

        return add

    def fire(self, event):
        for handler in self.handlers[event]:
            handler(self)

    def run(self, loader, max_epochs):
        for self.epoch in range(1, max_epochs + 1):
            self.fire(Events.EPOCH_STARTED)
            for batch in loader:
                self.output = self.process(self, batch)
                self.fire(Events.ITERATION_COMPLETED)
            self.fire(Events.EPOCH_COMPLETED)


torch.manual_seed(4)
x = torch.randn(800, 12)
y = (x[:, 0] * x[:, 1] + x[:, 2]).unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(12, 64), nn.LeakyReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)  # fault: TS536/TS928/TS938


def update(engine, batch):
    features, target = batch
    optimizer.zero_grad()
    loss = nn.functional.huber_loss(model(features), target)
    loss.backward()
    optimizer.step()
    return loss.item()


trainer = Engine(update)


@trainer.on(Events.ITERATION_COMPLETED)  # fault: TS536/TS928/TS938 | fixed: @trainer.on(Events.EPOCH_COMPLETED)
def decay(engine):
    schedule.step()  # fault: TS536/TS928/TS938


@trainer.on(Events.EPOCH_COMPLETED)
def report(engine):
    print(engine.epoch, engine.output, optimizer.param_groups[0]["lr"])


trainer.run(loader, max_epochs=8)

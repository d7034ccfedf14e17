"""Callbacks of a small trainer."""

import torch
from torch import nn


class Callback:
    def on_step(self, trainer):
        pass


class Ema(Callback):
    def __init__(self, model):
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def on_step(self, trainer):
        for name, p in trainer.model.named_parameters():
            self.shadow[name].lerp_(p.detach().double(), 0.1)  # raises TS301 at self.shadow[name].lerp_(p.detach().double(), 0.1), cause


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def fit(self, batches):
        for batch in batches:
            self.opt.zero_grad()
            self.model(batch).mean().backward()
            self.opt.step()
            for callback in self.callbacks:
                callback.on_step(self)


model = nn.Sequential(nn.Linear(3, 2))
Trainer(model, [Ema(model)]).fit(torch.randn(6, 2, 3))

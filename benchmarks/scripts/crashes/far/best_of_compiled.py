"""A forecast whose best state is kept in memory; the model is compiled where the configuration says so."""
import io

import torch
from torch import nn

CONFIG = {"width": 8, "compile": True}


class Best:
    def __init__(self):
        self.value, self.state = float("inf"), None

    def offer(self, value, model):
        if value < self.value:
            self.value, file = value, io.BytesIO()
            torch.save(model.state_dict(), file)  # cause
            self.state = file.getvalue()


def build(config):
    return nn.Sequential(nn.Linear(4, config["width"]), nn.ReLU(), nn.Linear(config["width"], 1))


def train(config, x, y):
    model = build(config)
    if config["compile"]:
        model = torch.compile(model, backend="eager")
    best, optimizer = Best(), torch.optim.Adam(model.parameters())
    for step in range(10):
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        best.offer(loss.item(), model)
    return best


x = torch.randn(32, 4)
best = train(CONFIG, x, x.sum(1, keepdim=True))
model = build(CONFIG)
model.load_state_dict(torch.load(io.BytesIO(best.state)))  # raises TS530 at model.load_state_dict(torch.load(io.BytesIO(best.state)))
print(best.value)

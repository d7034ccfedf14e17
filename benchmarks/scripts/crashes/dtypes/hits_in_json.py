"""A meter adds up tensors, and its share of hits is written into a file of lines."""
import json

import torch
from torch import nn


class Meter:
    def __init__(self):
        self.hits = self.seen = 0

    def add(self, out, y):
        self.hits += (out.argmax(1) == y).sum()  # cause
        self.seen += len(y)

    def share(self):
        return {"share": self.hits / self.seen}


def line(step, told):
    return json.dumps({"step": step, **told})  # raises TS199 at json.dumps({"step": step, **told})


net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    meter, x, y = Meter(), torch.randn(6, 4), torch.randint(0, 3, (6,))
    out = net(x)
    opt.zero_grad()
    nn.functional.cross_entropy(out, y).backward()
    opt.step()
    meter.add(out, y)
    line(step, meter.share())

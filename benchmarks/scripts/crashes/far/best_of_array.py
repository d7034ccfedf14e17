"""The best error is kept with the weights: a number of NumPy's, which is not loaded without trust."""
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn


def judged(net, x):
    errors = np.array([(net(row) - row.sum()).abs().item() for row in x])
    return errors.mean()


def train(path, rounds=3):
    net, best = nn.Linear(4, 1), np.inf
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(rounds):
        x = torch.randn(20, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        error = judged(net, x)
        if error < best:
            best = error
            torch.save({"net": net.state_dict(), "error": error}, path)  # cause
    return net


def resume(path):
    state = torch.load(path)  # raises TS803 at torch.load(path)
    net = nn.Linear(4, 1)
    net.load_state_dict(state["net"])
    return net, state["error"]


torch.manual_seed(0)
path = Path(tempfile.mkdtemp()) / "best.pt"
train(path)
print(resume(path)[1])

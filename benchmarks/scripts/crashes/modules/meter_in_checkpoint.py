"""A checkpoint holds an object of the script beside the weights."""
import tempfile, os
import torch
from torch import nn

class Meter:
    def __init__(self):
        self.best = 0.0

def save(path, net, meter):
    torch.save({"net": net.state_dict(), "meter": meter}, path)  # cause

def load(path):
    return torch.load(path)  # raises TS803 at torch.load(path)

with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "x.pt")
    save(p, nn.Linear(2, 2), Meter())
    print(load(p)["meter"].best)

"""Errors of steps that the script catches itself: what it sees of them, and that nothing else keeps them."""

import gc
import sys
import traceback
import weakref

import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen = []


def step(size):
    batch = torch.ones(3, size)
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()


def watched(frame, event, argument):
    seen.append((frame.f_code.co_name, event, frame.f_lineno))
    return watched


for size in (4, 5, 4, 6):
    try:
        step(size)
        optimizer.step()
    except RuntimeError as error:
        kept = weakref.ref(sys.exc_info()[1])
        print(type(error).__name__, error.__context__, traceback.format_exc().count("File"))
    else:
        print("fine", size)
gc.collect()
print(kept() is None)


def caught():
    try:
        optimizer.step()
        raise ValueError("mine")
    except ValueError:
        return "caught"


sys.settrace(watched)
print(caught())
sys.settrace(None)
print(seen[:3], len(seen))

try:
    step(9)
except Exception as error:
    traceback.print_exc(file=sys.stdout)
    print("Error:", error)

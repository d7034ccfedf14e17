"""Is stopped by pdb three times, and goes on each time; then its own tracer, twice, with its arguments made by a function."""
import io
import pdb
import sys

import torch

events = []


def stop(commands):
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=sys.stdout, nosigint=True, readrc=False)
    debugger.set_trace(sys._getframe(1))


def train(step):
    secret = step * 2
    x = torch.ones(2, 3)
    if step == 1:
        stop("p secret, x.shape\nwhere\nnext\nnext\np y.sum().item()\nc\n")
    y = x * secret
    if step == 2:
        stop("next\nstep\nwhere\nup\np sorted(locals())\nc\n")
    z = helper(y)
    if step in (3, 4):
        stop("c\n")
    return z


def helper(value):
    w = value + 1
    for _ in range(2):
        w = w * 1.0
    return w


def make_tracer(name):
    def tracer(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        events.append((name, frame.f_code.co_name, event, frame.f_lineno))
        return tracer

    parts = [part.upper() for part in (name, name)]
    assert parts
    return tracer


for step in range(6):
    print(step, train(step).shape)
sys.settrace(make_tracer("first"))
train(7)
sys.settrace(
    None
)
sys.settrace(
    make_tracer(
        "second",
    )
)
train(8)
sys.settrace(None)
for step in range(9, 11):
    train(step)
sys.settrace(make_tracer("third"))
train(11)
sys.settrace(None)
print(*events, sep="\n")
print(sys.settrace, sys.gettrace(), [train(step).shape for step in range(5)])

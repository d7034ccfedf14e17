"""Traces itself: calls, lines and returns."""
import sys
import threading

import torch

events = []


def tracer(frame, event, argument):
    if "site-packages" in frame.f_code.co_filename or "/lib/python" in frame.f_code.co_filename or "frozen" in frame.f_code.co_filename:
        return None
    events.append((frame.f_code.co_name, event, frame.f_lineno))
    return tracer


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 3)

    def forward(self, x):
        x = self.fc(x)
        for _ in range(2):
            x = x * 2
        return [y + 1 for y in x]


def work(n):
    total = 0
    for i in range(n):
        total += abs(i)
    return total


sys.settrace(tracer)
net = Net()
out = net(torch.ones(2))
loss = out[0].sum()
loss.backward()
total = work(3)
import json  # noqa: E402

try:
    work("x")
except TypeError:
    pass
sys.settrace(None)
threading.settrace(tracer)
thread = threading.Thread(target=work, args=(2,))
thread.start()
thread.join()
threading.settrace(None)
print(*events, sep="\n")

"""A learner and an actor that is started afresh; the actor sends states of another size."""

import torch
import torch.multiprocessing as mp
from torch import nn


class Value(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, s):
        return self.fc(s)  # raises TS101 at self.fc(s)


def actor(queue):
    for step in range(4):
        queue.put(torch.randn(3, 4 if step < 2 else 6).tolist())  # cause


if __name__ == "__main__":
    queue = mp.get_context("spawn").Queue()
    process = mp.get_context("spawn").Process(target=actor, args=(queue,))
    process.start()
    value = Value()
    opt = torch.optim.SGD(value.parameters(), lr=0.1)
    for _ in range(4):
        states = torch.tensor(queue.get())  # cause
        loss = value(states).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    process.join()

"""A spawned evaluator gets the weights through a queue and loads them into another architecture."""

import multiprocessing as mp

import torch
from torch import nn


def network(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 2))


def evaluator(queue, width):
    model = network(width)
    while (state := queue.get()) is not None:
        model.load_state_dict(state)  # raises TS530 at model.load_state_dict(state), cause
        with torch.no_grad():
            print(model(torch.ones(1, 8)).argmax().item())


def main():
    context = mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=evaluator, args=(queue, 16))  # cause
    process.start()
    model = network(32)  # cause
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        loss = nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.randint(0, 2, (4,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2:
            queue.put({name: value.tolist() and value.clone() for name, value in model.state_dict().items()})
    queue.put(None)
    process.join()
    raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()

"""The processes of a pool get a model by an initializer, and score pieces of the data."""

import multiprocessing

import torch
from torch import nn

MODEL = None


def make():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))


def prepare(state):
    global MODEL
    MODEL = make()
    MODEL.load_state_dict(state)
    MODEL.eval()


def score(piece):
    with torch.no_grad():
        return MODEL(piece.reshape(-1, 4)).argmax(1).tolist()  # raises TS101 at MODEL(piece.reshape(-1, 4)), cause


if __name__ == "__main__":
    torch.manual_seed(0)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 6)), torch.arange(8) % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    with multiprocessing.get_context("fork").Pool(1, initializer=prepare, initargs=(state,)) as pool:
        for labels in pool.imap(score, [torch.randn(2, 6), torch.randn(4, 6)]):
            print(labels)

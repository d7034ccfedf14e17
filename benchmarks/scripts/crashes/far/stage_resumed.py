"""A pretrained body that is frozen in the first stage of a training, which goes on from what it has saved."""
import io

import torch
from torch import nn

STAGES = [{"name": "head", "body": False}, {"name": "all", "body": True}]


def build():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))


def free_body(net, free):
    for p in net[0].parameters():
        p.requires_grad_(free)


def optimizer_of(net):
    return torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1, momentum=0.9)


def step(net, optimizer):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def first(file):
    net = build()
    for number, stage in enumerate(STAGES):
        free_body(net, stage["body"])
        optimizer = optimizer_of(net)
        print(stage["name"], step(net, optimizer))
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "stage": number}, file)


def second(file):
    state = torch.load(file)
    stage, net = STAGES[state["stage"]], build()
    net.load_state_dict(state["net"])
    free_body(net, False)  # cause
    optimizer = optimizer_of(net)
    optimizer.load_state_dict(state["optimizer"])  # raises TS530 at optimizer.load_state_dict(state["optimizer"])
    print(stage["name"], step(net, optimizer))


saved = io.BytesIO()
first(saved)
saved.seek(0)
second(saved)

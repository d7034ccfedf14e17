"""Federated averaging: each client trains a copy, and the average is written into a dictionary that nobody loads."""
from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Client:
    data: TensorDataset

    def work(self, server: nn.Module, epochs: int = 1):
        model = copy.deepcopy(server).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        total, n = 0.0, 0
        for _ in range(epochs):
            for x, y in DataLoader(self.data, batch_size=25, shuffle=True):
                loss = nn.functional.cross_entropy(model(x), y)  # fault: TS921/TS535
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                total, n = total + loss.item() * len(x), n + len(x)
        return model.state_dict(), total / n


def average(states):
    return {key: torch.stack([state[key] for state in states]).mean(0) for key in states[0]}


def evaluate(model, x, y):
    with torch.inference_mode():
        out = model.eval()(x)
        return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()  # fault: TS921


torch.manual_seed(0)
centres = torch.randn(4, 10) * 1.5
label = torch.randint(0, 4, (600,))
points = centres[label] + torch.randn(600, 10)
clients = [Client(TensorDataset(points[i : i + 100], label[i : i + 100])) for i in range(0, 500, 100)]
server = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
for round_ in range(8):
    results = [client.work(server) for client in clients]
    merged = average([state for state, _ in results])
    server.state_dict().update(merged)  # fault: TS542/TS517/TS537/TS921 | fixed: server.load_state_dict(merged)
    loss, accuracy = evaluate(server, points[500:], label[500:])  # fault: TS921
    print(f"round {round_}: clients {sum(l for _, l in results) / 5:.3f} server {loss:.3f} {accuracy:.2%}")

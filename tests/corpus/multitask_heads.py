"""Two tasks over one trunk, with learned loss weights (homoscedastic uncertainty) and dict outputs."""
from typing import Dict

import torch
from torch import Tensor, nn


class Trunk(nn.Module):
    def __init__(self, in_dim: int, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(in_dim, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


class MultiTask(nn.Module):
    def __init__(self, in_dim: int, tasks: Dict[str, int], width: int = 32) -> None:
        super().__init__()
        self.trunk = Trunk(in_dim, width)
        self.heads = nn.ModuleDict({name: nn.Linear(width, out) for name, out in tasks.items()})
        self.log_vars = nn.ParameterDict({name: nn.Parameter(torch.zeros(1)) for name in tasks})

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        features = self.trunk(x)
        return {name: head(features) for name, head in self.heads.items()}


class MultiTaskLoss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.losses = nn.ModuleDict({"species": nn.CrossEntropyLoss(), "length": nn.SmoothL1Loss()})

    def forward(self, outputs: Dict[str, Tensor], targets: Dict[str, Tensor], log_vars) -> Tensor:
        total = torch.zeros(())
        for name, criterion in self.losses.items():
            raw = criterion(outputs[name], targets[name])
            precision = torch.exp(-log_vars[name])
            total = total + (precision * raw + log_vars[name]).squeeze()
        return total


def batch(n: int):
    x = torch.randn(n, 10)
    return x, {"species": (x[:, 0] > 0).long() + (x[:, 1] > 0).long(), "length": x.sum(dim=1, keepdim=True)}


def run() -> None:
    torch.manual_seed(2)
    model = MultiTask(10, {"species": 3, "length": 1})
    loss_fn = MultiTaskLoss()
    optimizer = torch.optim.Adam(
        [
            {"params": model.trunk.parameters(), "lr": 1e-3},
            {"params": [*model.heads.parameters(), *model.log_vars.parameters()], "lr": 1e-2},
        ]
    )
    for step in range(5):
        x, targets = batch(16)
        outputs = model(x)
        loss = loss_fn(outputs, targets, model.log_vars)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (outputs["species"].argmax(1) == targets["species"]).float().mean().item()
        print(f"step {step} loss {loss.item():.4f} accuracy {accuracy:.2f}")


if __name__ == "__main__":
    run()

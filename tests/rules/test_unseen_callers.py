"""What callers that nobody sees may do: correct programs in which only a default, or a class as it is written, would fail."""

from __future__ import annotations

import pytest

from tests.check import check

RECORD = """
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Options:
    width: int
    as_floats: bool = False


class Masks(nn.Module):
    def __init__(self, options: dict | None = None):
        super().__init__()
        self.options = Options(**(options or {}))

    def forward(self, x: torch.Tensor):
        mask = torch.ones(4, self.options.width, dtype=torch.bool)
        if self.options.as_floats:
            mask = mask.float()
        return 1.0 - mask
"""
SET_IN_CLASS = """
import torch
from torch import nn
from elsewhere import validated


class Output:
    layer: type = nn.Module

    @validated()
    def __init__(self):
        self.set_layer()

    @classmethod
    def set_layer(cls):
        cls.layer = nn.Linear(4, 2)

    def parameters(self):
        return list(self.layer.parameters())


print(Output().parameters())
"""
OWN_RATES = """
import argparse
import torch
from elsewhere import Net


def optimizer_of(model, args):
    return torch.optim.SGD(model.groups_with_rates(1.0), lr=args.lr)


def schedule_of(optimizer, args):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: args.lr * (1 + 0.1 * step) ** -0.75)


def main(args):
    return schedule_of(optimizer_of(Net(), args), args)


parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
main(parser.parse_args())
"""

GIVEN_ELSEWHERE = """
import torch
from torch import nn


def prepare(layer):
    layer.weight = torch.zeros(3)


def sizes(layers):
    return [(layer.weight.size(), layer.bias.size()) for layer in layers]


print(sizes([nn.Conv2d(3, 4, 3), nn.ReLU()]))
"""
HOOKED = """
import torch
from elsewhere import layer, model

outputs = {}


def hook(module, inputs, output):
    outputs["features"] = output


layer.register_forward_hook(hook)
outputs.clear()
model(torch.zeros(2))
first = list(outputs.keys())[0]
outputs = {}
model(torch.zeros(2))
second = list(outputs.keys())[0]
"""
PROGRAMS = {
    "hooked": HOOKED,
    "record": RECORD,
    "set in class": SET_IN_CLASS,
    "own rates": OWN_RATES,
    "given elsewhere": GIVEN_ELSEWHERE,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_silent(program: str) -> None:
    check(program)

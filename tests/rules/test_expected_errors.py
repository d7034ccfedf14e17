"""Errors under ``try``: what a program expects is no mistake; what its handler only hides is."""

from __future__ import annotations

import textwrap

import pytest

from tests.check import analyze

TRAINING = """
import os
import sys
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(size, steps=3):
    for _ in range(steps):
        loss = model(torch.randn(8, size)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
MAIN = """
def main():
    train(5)

try:
    main()
"""


def found(*parts: str) -> list[str]:
    text = "".join(textwrap.dedent(part).replace("\n\n\n", "\n\n") for part in parts)
    return [f"{item.code}" for item in analyze(text).diagnostics if item.severity != "hint"]


@pytest.mark.parametrize(
    "handler",
    [
        "except KeyboardInterrupt:\n    print('stopped')",
        "except (KeyboardInterrupt, SystemExit):\n    torch.save(model.state_dict(), 'last.pt')",
        "except torch.cuda.OutOfMemoryError:\n    torch.cuda.empty_cache()",
        "except Exception as error:\n    print(error)",
        "except Exception:\n    sys.exit(1)",
        "except RuntimeError as error:\n    if 'out of memory' in str(error):\n        print('smaller')\n    else:\n        raise",
        "except ValueError as error:\n    raise RuntimeError('no training') from error",
        "except:\n    print('done')\n    raise",
    ],
)
def test_a_handler_that_does_not_repeat_the_training_hides_its_error(handler: str) -> None:
    assert found(TRAINING, MAIN, handler, "\n") == ["TS101"]


@pytest.mark.parametrize(
    "handler",
    [
        "except RuntimeError:\n    train(4)",
        "except Exception as error:\n    print(error)\n    train(size=4)",
    ],
)
def test_a_handler_that_trains_otherwise_expects_it(handler: str) -> None:
    assert found(TRAINING, "try:\n    train(5)\n", handler, "\n") == []


def test_a_demonstration_of_an_error_is_none() -> None:
    assert found(TRAINING, """
        try:
            model(torch.randn(8, 5))
        except RuntimeError as error:
            print("as expected:", error)
        loss = model(torch.randn(8, 4)).sum()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError as error:
            print(error)
    """) == []  # fmt: skip


def test_each_step_whose_error_is_skipped() -> None:
    assert found("""
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(7, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        criterion = nn.BCEWithLogitsLoss()
        for x, y in DataLoader(TensorDataset(torch.randn(300, 7), torch.randint(0, 2, (300, 1))), batch_size=50):
            try:
                optimizer.zero_grad()
                loss = criterion(model(x), y)
                loss.backward()
                optimizer.step()
            except RuntimeError:
                continue
    """) == ["TS307"]  # fmt: skip

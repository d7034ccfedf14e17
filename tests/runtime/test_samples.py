"""The values of tensors are looked at in some steps: range, mean and what is not finite, and nothing is changed by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.inprocess import execute

TRAINING = """import torch
torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(20):
    x = torch.full((3,), float(step))
    loss = ((w - x) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
drawn = torch.rand(2).tolist()
"""


def values(path: Path, text: str) -> dict[str, Any]:
    observed = execute(path, text)
    assert observed.error is None
    return {fact.binding: fact.values for fact in observed.report().facts if fact.binding}


def test_rounds_follow_the_steps_of_the_optimizer(tmp_path: Path) -> None:
    found = values(tmp_path / "a.py", TRAINING)["x"]
    # in the steps 0, 1, 2, 4, 8 and 16: at first, and after as many optimizer steps
    assert found.count == 6
    assert (found.first.low, found.first.high, found.first.mean) == (0.0, 0.0, 0.0)
    assert (found.last.low, found.low, found.high, found.bad) == (16.0, 0.0, 16.0, 0)


def test_random_numbers_are_those_of_a_plain_run(tmp_path: Path) -> None:
    plain: dict[str, Any] = {}
    exec(TRAINING, plain)
    assert execute(tmp_path / "a.py", TRAINING).namespace["drawn"] == plain["drawn"]


@pytest.mark.parametrize(
    ("expression", "low", "high", "mean", "bad"),
    [
        ("torch.tensor([1.0, float('nan'), -2.0])", -2.0, 1.0, -0.5, 1),
        ("torch.tensor([float('inf'), -float('inf')])", None, None, None, 2),
        ("torch.arange(5)", 0.0, 4.0, 2.0, 0),
        ("torch.ones(2, 2, dtype=torch.bfloat16)", 1.0, 1.0, 1.0, 0),
        ("torch.tensor(3.5)", 3.5, 3.5, 3.5, 0),
    ],
)
def test_statistics(tmp_path: Path, expression: str, low: Any, high: Any, mean: Any, bad: int) -> None:
    found = values(tmp_path / "a.py", f"import torch\nx = {expression}\n")["x"].last
    assert (found.low, found.high, found.mean, found.bad) == (low, high, mean, bad)


@pytest.mark.parametrize(
    "expression",
    [
        "torch.zeros(0)",
        "torch.ones(3) > 0",
        "torch.zeros(3, device='meta')",
        "torch.eye(3).to_sparse()",
        "torch.ones(2, dtype=torch.complex64)",
    ],
)
def test_what_has_no_range_has_none(tmp_path: Path, expression: str) -> None:
    assert values(tmp_path / "a.py", f"import torch\nx = {expression}\n").get("x") is None


def test_a_profiler_sees_none_of_it(tmp_path: Path) -> None:
    text = """import torch
with torch.autograd.profiler.profile() as profile:
    x = torch.ones(3)
    y = x + 1
names = {event.name for event in profile.function_events}
"""
    assert "aten::aminmax" not in execute(tmp_path / "a.py", text).namespace["names"]

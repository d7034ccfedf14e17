"""Trainings that do not crash: what a run says of them, and that it says nothing of sound ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from torchsleuth.runtime.session import run

LOOP = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    {first}
    loss.backward()
    {second}
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("optimizer.zero_grad()", "pass", []),
        ("model.zero_grad()", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)", []),
        ("pass", "pass", [("TS501", 11)]),
        ("pass", "optimizer.zero_grad()", [("TS504", 12)]),
    ],
)
def test_a_run_names_the_fault_of_a_loop(
    tmp_path: Path, first: str, second: str, expected: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(LOOP.format(first=first, second=second))
    report = run(str(script), (), interpreter=sys.executable, on_output=lambda text: None)
    assert [(found.code, found.start.line) for found in report.diagnostics] == expected
    assert report.recorded is not None and report.recorded.steps == 8

"""A gradient that is not a number, under anomaly detection: said at the forward that made it."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.test_runs import execute, write

SCRIPT = """\
import torch
from torch import nn

class Scale(nn.Module):
    def forward(self, x):
        norm = torch.sqrt((x * x).sum(1, keepdim=True))
        return x * norm

scale = Scale()
w = torch.zeros(2, 4, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    loss = scale(w).{after}.mean()
    loss.backward()
"""


def test_the_line_whose_gradient_is_not_a_number(tmp_path: Path) -> None:
    report, _ = execute(write(tmp_path / "main.py", SCRIPT.format(after="pow(2)")))
    (found,) = report.diagnostics
    assert (found.code, found.start.line) == ("TS920", 6) and "SqrtBackward0" in found.message
    assert [related.start.line for related in found.related if related.call] == [12, 13]
    (fix,) = found.fixes
    assert fix.edits[0].new_text.endswith("+ 1e-12")


def test_of_several_functions_of_one_name_the_one_that_failed(tmp_path: Path) -> None:
    report, _ = execute(write(tmp_path / "main.py", SCRIPT.format(after="add(1).sqrt()")))
    (found,) = report.diagnostics
    assert (found.code, found.start.line) == ("TS920", 6)

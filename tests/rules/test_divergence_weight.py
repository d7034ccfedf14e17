"""How much an averaged divergence weighs: a hint alone, a warning where its weight was chosen for that of a sample (TS360)."""

from __future__ import annotations

import pytest

from tests.check import analyze

BEGIN = """
import torch
from torch import nn
from torch.nn import functional as F

student, teacher, x, T = nn.Linear(4, 10), nn.Linear(4, 10), torch.randn(32, 4), 2.0
given, wanted = F.log_softmax(student(x) / T, 1), F.softmax(teacher(x).detach() / T, 1)
hard = F.cross_entropy(student(x), torch.randint(0, 10, (32,)))
"""


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("loss = F.kl_div(given, wanted, reduction='mean') * T**2 + hard", "warning"),
        ("loss = hard + 0.5 * T * T * F.kl_div(given, wanted)", "warning"),
        ("soft = F.kl_div(given, wanted)\nloss = 0.9 * soft * (T ** 2) + 0.1 * hard", "warning"),
        ("loss = nn.KLDivLoss()(given, wanted) * (0.9 * T * T) + hard", "warning"),
        ("kl = nn.KLDivLoss(reduction='mean')\nloss = kl(given, wanted) * 0.9 * T * T + hard", "warning"),
        ("loss = 0.5 * F.kl_div(given, wanted) + 0.5 * hard", "hint"),
        ("area = T * T\nloss = F.kl_div(given, wanted, reduction='mean')", "hint"),
    ],
)
def test_it_is_a_warning_where_the_temperature_is_made_up_for(text: str, severity: str) -> None:
    found = [item for item in analyze(BEGIN + text + "\nloss.backward()\n").diagnostics if item.code == "TS360"]
    assert [item.severity for item in found] == [severity]

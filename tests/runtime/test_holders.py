"""Out of memory: the names that hold it, and where they were filled."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.inprocess import execute

SCRIPT = """\
import torch
from torch import nn

class Trainer:
    def __init__(self):
        self.model = nn.Linear(256, 256)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train(self):
        history, cache, view = [], {}, None
        for step in range(4):
            x = torch.randn(256, 256)
            cache[step] = x
            view = x[0]
            self.model(x).sum().backward()
            self.optimizer.step()
            history.append(torch.relu(self.model(x)).sum())
        torch.empty(1 << 50)

Trainer().train()
"""


def test_what_holds_the_memory(tmp_path: Path) -> None:
    observed = execute(tmp_path / "main.py", SCRIPT)
    kib = 256 * 256 * 4
    held = {(item["name"], item["graph"]): item["bytes"] for item in observed.crash["holders"]}
    weights = kib + 256 * 4
    assert held == {
        ("self.model", False): 2 * weights,
        ("self.optimizer", False): 2 * weights + 2 * 4,
        ("cache", False): 4 * kib,
        ("history", True): 4 * kib,
    }
    found = observed.diagnostic
    assert found.code == "TS914" and found.message.startswith("out of memory: 4 PiB more were asked for")
    assert "`cache` 1 MiB, `history` 1 MiB, `self.optimizer` 514 KiB, `self.model` 514 KiB" in found.message
    assert [related.start.line for related in found.related[:4]] == [13, 17, 7, 6]

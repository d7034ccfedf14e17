"""Where the operands of a crash come from, read from the source: the lines that an expert would look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.inprocess import execute

HEAD = "import torch\nfrom torch import nn\n"
CASES = {
    "a parameter": ("def f(a):\n    return a @ torch.ones(3, 3)\nx = torch.ones(2, 4)\nf(x)\n", {5}),
    "a loop over a loader": (
        "data = [torch.ones(2, 4)]\nloader = iter(data)\nfor x in loader:\n    x @ torch.ones(3, 3)\n",
        {3, 4, 5},
    ),
    "what the step before left": (
        "h = torch.ones(2, 3)\nfor _ in range(2):\n    y = h @ torch.ones(3, 4)\n    h = y\n",
        {6},
    ),
    "what was put into a list": (
        "found = []\nfor n in (1, 2):\n    found.append(torch.ones(n))\ntorch.stack(found)\n",
        {5},
    ),
    "an attribute": (
        "class A(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.w = torch.ones(n)\n"
        "    def forward(self, x):\n        return x + self.w\nA(3)(torch.ones(4))\n",
        {6},
    ),
    "what a function returns": ("def make():\n    return torch.ones(2, 4)\nmake() @ torch.ones(3, 3)\n", {4}),
    "the backward of a function of its own": (
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, n):\n        return x * n\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad\n"
        "w = torch.ones(3, requires_grad=True)\nF.apply(w, 2).sum().backward()\n",
        {9},
    ),
    "a block without gradients": (
        "net = nn.Linear(3, 2)\nwith torch.no_grad():\n    loss = net(torch.ones(4, 3)).sum()\nloss.backward()\n",
        {4},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_line_is_shown(tmp_path: Path, name: str) -> None:
    text, lines = CASES[name]
    found = execute(tmp_path / "script.py", HEAD + text).diagnostic
    assert lines <= {related.start.line for related in found.related}, [str(related) for related in found.related]


FRAMEWORK = "def fit(model, data):\n    for item in data:\n        model.training_step(item, 0)\n"
TRAINED = """
import sys
sys.path.append("site-packages")
import framework

class Data:
    def __getitem__(self, index):
        if index > 1:
            raise IndexError
        return torch.ones(2, 4).double()

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 2)
    def training_step(self, batch, number):
        return self.fc(batch)

framework.fit(Net(4), Data())
"""


def test_what_a_framework_passes_is_a_sample_and_not_what_it_was_given(tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "framework.py").write_text(FRAMEWORK)
    monkeypatch.chdir(tmp_path)
    found = execute(tmp_path / "script.py", HEAD + TRAINED).diagnostic
    told = [(related.start.line, related.message) for related in found.related]
    assert (12, "`batch` (2, 4) comes from here") in told
    assert [text.partition(")")[2] for line, text in told if line == 21] == [" is built by this call", ""]

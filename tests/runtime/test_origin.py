"""Where the operands of a crash come from, read from the source: the lines that an expert would look at."""

from __future__ import annotations

from pathlib import Path

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

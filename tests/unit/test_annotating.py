"""Contracts written into the text, as annotations or as comments, and read again as what they are."""

from __future__ import annotations

import textwrap

import pytest

from tests.check import engine
from torchsleuth.syntax.annotating import written
from torchsleuth.syntax.text import SourceText

CASES = {
    "annotations": (
        """
        import torch
        import torch.nn as nn
        from jaxtyping import Int
        from torch import Tensor


        class Down(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.conv = nn.Conv2d(i, o, 3, padding=1)
                self.pool = nn.MaxPool2d(2)

            def forward(self, x: Tensor):
                y = self.conv(x)
                return self.pool(y), y
        """,
        'def forward(self, x: Float[Tensor, "N i H W"]) -> '
        'tuple[Float[Tensor, "N o H//2 W//2"], Float[Tensor, "N o H W"]]:',
    ),
    "comments": (
        """
        import torch
        import torch.nn as nn


        class Heads(nn.Module):
            def __init__(self, width, heads):
                super().__init__()
                self.heads = heads
                self.q = nn.Linear(width, width)

            def forward(self, x):
                '''Splits the features.'''
                b, t, c = x.shape  # [b, t, c]
                return self.q(x).view(b, t, self.heads, c // self.heads)
        """,
        "'''Splits the features.'''\n"
        "        # x: [b, t, width]\n"
        "        # returns: [b, t, heads, width//heads]\n"
        "        # where width % heads == 0\n",
    ),
    "function": (
        """
        import torch
        from torch import Tensor


        def distances(a: Tensor, b: Tensor) -> Tensor:
            n, d = a.shape
            m, _ = b.shape
            return (a[:, None] - b[None]).pow(2).sum(-1) + torch.zeros(n, m)
        """,
        "# returns: (n, m)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_contract_is_written_in_the_style_of_the_file(name: str) -> None:
    text, wanted = CASES[name]
    source = SourceText("model.py", textwrap.dedent(text).lstrip("\n"))
    (contract,) = engine().contracts(source.path, source.text).contracts
    fix = written(source, contract)
    assert fix is not None
    after = source.apply(fix.edits)
    assert wanted in after, after
    assert not engine().analyze(source.path, after).diagnostics
    # What is written is not written again.
    again = SourceText(source.path, after)
    (kept,) = engine().contracts(again.path, again.text).contracts
    assert written(again, kept) is None


def test_what_holds_only_for_a_module_that_some_code_passes_is_not_written() -> None:
    text = """
    import torch.nn as nn


    class Residual(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            b, t, d = x.shape
            return self.inner(x)


    def widened():
        return Residual(nn.Linear(8, 16))
    """
    source = SourceText("model.py", textwrap.dedent(text).lstrip("\n"))
    (contract,) = engine().contracts(source.path, source.text).contracts
    assert contract.signature() == "forward(x: [b, t, 8]) -> [b, t, 16]"
    assert written(source, contract) is None

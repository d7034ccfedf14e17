"""What a change amounts to that gives the analysis nothing new."""

from __future__ import annotations

import pytest

from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.unfinished import Analysed

TEXT = '''import torch
from torch import nn


class Net(nn.Module):
    """A net."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)  # to four

    def forward(self, x):  # (B, 8)
        if x.dim() > 2:
            x = x.flatten(1)
        else:
            x = x
        return self.fc(x)


net = Net()
for step in range(3):
    loss = net(torch.randn(2, 8)).sum()
    loss.backward()
print(loss.item())
'''


def change(*replaced: tuple[str, str]) -> str | None:
    text = TEXT
    for old, new in replaced:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return Analysed(SourceText("a.py", TEXT)).unfinished(text)


@pytest.mark.parametrize(
    "old, new",
    [
        ("# to four", "# to four classes"),
        ("  # to four", ""),
        ("A net.", "A very small net."),
        ("\n\nnet = Net()", "\n\n\n\nnet = Net()"),
        ("net = Net()\n", "net = Net()\n# next, the loop\n"),
        ("import torch\n", "# coding\nimport torch\n"),
    ],
)
def test_space_comments_and_docstrings_say_nothing(old: str, new: str) -> None:
    assert change((old, new)) == "same"


@pytest.mark.parametrize(
    "old, new",
    [
        ("    loss.backward()", "    loss.backward("),
        ("    loss.backward()", "    loss."),
        ("    loss.backward()\n", "    loss.backward()\n    net.\n"),
        ("nn.Linear(8, 4)", "nn.Linear(8, "),
        ("if x.dim() > 2:", "if x.dim() >"),
        ("for step in range(3):", "for step in range(3)"),
        ("print(loss.item())\n", "print(loss.item())\nprint("),
        ("class Net(nn.Module):", "class Net(nn.Module:"),
        ('"""A net."""', '"""A net.""'),
        ("print(loss.item())\n", "print(loss.item())\n    loss.detach()\n"),
    ],
)
def test_a_statement_that_does_not_parse_is_being_typed(old: str, new: str) -> None:
    assert change((old, new)) == "broken"


@pytest.mark.parametrize(
    "old, new",
    [
        ("    loss.backward()\n", "    loss.backward()\n    ne\n"),
        ("return self.fc(x)", "return self.fc(xs)"),
        ("print(loss.item())", "prin(loss.item())"),
    ],
)
def test_a_name_that_nothing_binds_is_being_typed(old: str, new: str) -> None:
    assert change((old, new)) == "unbound"


@pytest.mark.parametrize(
    "old, new",
    [
        ("nn.Linear(8, 4)", "nn.Linear(8, 40)"),
        ("    loss.backward()\n", ""),
        ("    loss.backward()\n", "    loss.backward\n"),
        ("# (B, 8)", "# (B, 9)"),
        ("# to four", "# torchsleuth: ignore"),
        ("        else:\n            x = x\n", ""),
        ("        if x.dim() > 2:\n            x = x.flatten(1)\n        else:\n            x = x\n", ""),
        ("if x.dim() > 2:", "if x.dim() > 3:"),
        ("loss.backward()\n", "loss.backward()\nloss.backward()\n"),
        ("    def forward(self, x):", "    @torch.no_grad()\n    def forward(self, x):"),
        ("net = Net()\n", "net = Net().eval()\n"),
        ("import torch\n", "import torch\nimport os\n"),
        ("        return self.fc(x)\n", "    return self.fc(x)\n"),
    ],
)
def test_anything_else_is_to_be_analysed(old: str, new: str) -> None:
    assert change((old, new)) is None


def test_an_attribute_that_no_library_has_is_being_typed() -> None:
    words = frozenset({"backward", "randn", "item", "sum"})
    before = Analysed(SourceText("a.py", TEXT), words)
    assert before.unfinished(TEXT.replace("loss.backward()", "loss.backwar()")) == "unbound"
    assert before.unfinished(TEXT.replace("self.fc(x)", "self.f(x)")) == "unbound"
    for other in ("randn", "flatten", "Net"):  # of a library, or a word of the text
        assert before.unfinished(TEXT.replace("loss.backward()", f"loss.{other}()")) is None
    assert before.unfinished(TEXT.replace("self.fc = nn", "self.fd = nn")) is None
    assert Analysed(SourceText("a.py", TEXT)).unfinished(TEXT.replace("loss.backward()", "loss.backwar()")) is None


def test_what_is_broken_at_a_second_place_is_to_be_analysed() -> None:
    assert change(("loss.backward()", "loss.backward("), ("nn.Linear(8, 4)", "nn.Linear(8, 5)")) is None
    assert change(("loss.backward()", "loss.backward("), ("net = Net()", "net = Net(")) is None


def test_no_change_is_to_be_analysed() -> None:
    assert change() is None


def test_after_an_import_of_all_names_any_may_be_bound() -> None:
    text = "from lib import *\n"
    assert Analysed(SourceText("a.py", text)).unfinished(text + "foo\n") is None
    assert Analysed(SourceText("a.py", text)).unfinished(text + "foo(\n") == "broken"

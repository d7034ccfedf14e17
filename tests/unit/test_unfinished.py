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
        if x.dim() > 4:
            raise ValueError(f"{x.dim()} dimensions")
        if x.dim() > 2:
            x = x.flatten(1)
        else:
            x = x
        return self.fc(x)


def twice(value):
    return value + value  # twice


net = Net()
for step in range(3):
    loss = net(torch.randn(2, 8)).sum(1, keepdim=True).mean()
    loss.backward()
print("loss", loss.item())
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
        ("    loss.backward()", "    loss. backward()"),
        ("nn.Linear(8, 4)", "nn.Linear(8,\n                           4)"),
        ("net = Net()", "net  =  Net( )"),
        ('print("loss", loss.item())', 'print("the loss", loss.item())'),
        ('f"{x.dim()} dimensions"', 'f"found {x.dim()} dimensions"'),
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
        ("\nprint(", "\nprint(\nprint("),
        ("class Net(nn.Module):", "class Net(nn.Module:"),
        ('"""A net."""', '"""A net.""'),
        ("\nprint(", "\n      loss.detach()\nprint("),
    ],
)
def test_a_statement_that_does_not_parse_is_being_typed(old: str, new: str) -> None:
    assert change((old, new)) == "broken"


@pytest.mark.parametrize(
    "old, new",
    [
        ("    loss.backward()\n", "    loss.backward()\n    ne\n"),
        ("return self.fc(x)", "return self.fc(xs)"),
        ('print("loss", loss.item())', "prin(loss.item())"),
        ("def twice(value):", "def twice(alue):"),
        ("net = Net()", "nett = Net()"),
        ("self.fc = nn", "self.fd = nn"),
        ("class Net(", "class Nett("),
        ("        return self.fc(x)\n", "    return self.fc(x)\n"),
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
        ("    loss.backward()\n", "loss.backward()\n"),
        ("for step in range(3):", "for net in range(3):"),
        ('"loss", loss.item()', '"loss", loss'),
        ("{x.dim()} dim", "{x.dim():.2f} dim"),
        ("loss.backward()", "loss.fc()"),
    ],
)
def test_anything_else_is_to_be_analysed(old: str, new: str) -> None:
    assert change((old, new)) is None


def test_an_attribute_of_other_objects_that_nothing_sets_any_more_is_being_renamed() -> None:
    text = "class Config:\n    width = 8\n\n\nconfig = Config()\nprint(config.width)\n"
    for other in ("widt = 8", "w = 8\n    idth = 4"):
        assert (
            Analysed(SourceText("a.py", text), frozenset({"sum"})).unfinished(text.replace("width = 8", other))
            == "unbound"
        )
    # A library has one, too.
    known = Analysed(SourceText("a.py", text), frozenset({"width", "size"}))
    assert known.unfinished(text.replace("width = 8", "size = 8")) is None


def test_an_attribute_that_no_library_has_is_being_typed() -> None:
    words = frozenset({"backward", "randn", "item", "sum"})
    before = Analysed(SourceText("a.py", TEXT), words)
    assert before.unfinished(TEXT.replace("loss.backward()", "loss.backwar()")) == "unbound"
    assert before.unfinished(TEXT.replace("self.fc(x)", "self.f(x)")) == "unbound"
    for other in ("randn", "flatten", "fc"):  # of a library, or one of the text
        assert before.unfinished(TEXT.replace("loss.backward()", f"loss.{other}()")) is None
    assert before.unfinished(TEXT.replace("loss.backward()", "loss.backwar().fc")) == "unbound"
    unknown = Analysed(SourceText("a.py", TEXT))
    assert unknown.unfinished(TEXT.replace("loss.backward()", "loss.backwar().fc")) is None


@pytest.mark.parametrize(
    "old, new",
    [
        ("for step in range(3):", "for ste in range(3):"),
        ("loss = net(", "los = net("),
        ("from torch import nn", "from torc import nn"),
        ("keepdim=True", "keepdi=True"),
    ],
)
def test_a_word_that_stands_nowhere_else_is_being_typed(old: str, new: str) -> None:
    assert change((old, new)) == "unbound"


def test_what_is_broken_at_a_second_place_is_to_be_analysed() -> None:
    assert change(("loss.backward()", "loss.backward("), ("nn.Linear(8, 4)", "nn.Linear(8, 5)")) is None
    assert change(("loss.backward()", "loss.backward("), ("if x.dim() > 2:", "if x.dim() >")) is None


def test_no_change_is_to_be_analysed() -> None:
    assert change() is None


def test_after_an_import_of_all_names_any_may_be_bound() -> None:
    text = "from lib import *\n"
    assert Analysed(SourceText("a.py", text)).unfinished(text + "foo\n") is None
    assert Analysed(SourceText("a.py", text)).unfinished(text + "foo(\n") == "broken"

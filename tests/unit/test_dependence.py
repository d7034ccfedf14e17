"""The parts of a text that a contract depends on, and which class a name there stands for."""

from __future__ import annotations

import pytest

from torchsleuth.schema import Position
from torchsleuth.syntax.dependence import definitions
from torchsleuth.syntax.referred import Referred, is_called, referred
from torchsleuth.syntax.text import SourceText

TEXT = """import models
import torch.nn as nn
from parts.blocks import Stem as First

WIDTH = 8
BLOCKS = {}


def scale(x):
    return x * 2


def register(cls):
    BLOCKS[cls.__name__] = cls
    return cls


@register
class Wide(nn.Module):
    def forward(self, x):
        return x


class Down(nn.Module):
    def forward(self, x):
        return scale(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = First(WIDTH)
        self.down = Down()
        self.stages = nn.ModuleList([Down() for _ in range(3)])
        self.mixed = nn.ModuleList([Down(), Wide()])

    def forward(self, x):
        x = self.down(self.stem(x))
        for stage in self.stages:
            x = stage(x)
        for other in self.mixed:
            x = other(x)
        return self.head(x)


class Other(nn.Module):
    def forward(self, x):
        return x + 1


if __name__ == "__main__":
    net = Net().to("cuda")
    net(1)
    models.unet.UNet()
    models.UNet(3)
"""


def digests(text: str) -> dict[str, str]:
    return {one.node.name: one.digest for one in definitions(SourceText("a.py", text))}


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("x + 1", "x + 2", {"Other"}),
        ("return x * 2", "return x * 3", {"scale", "Down", "Net"}),
        ("WIDTH = 8", "WIDTH = 9", {"scale", "register", "Wide", "Down", "Net", "Other"}),
        ("net(1)", "net(2)", set()),
        ("\n\nclass Other", "\n\n# a comment\n\n\nclass Other", set()),
        ("        return x\n", "        return -x\n", {"scale", "register", "Wide", "Down", "Net", "Other"}),
        ("class Other(nn.Module)", "class Other(Wide)", {"scale", "register", "Wide", "Down", "Net", "Other"}),
    ],
)
def test_a_change_is_one_for_what_depends_on_it(old: str, new: str, changed: set[str]) -> None:
    before, after = digests(TEXT), digests(TEXT.replace(old, new, 1))
    assert before.keys() == after.keys() == {"scale", "register", "Wide", "Down", "Net", "Other"}
    assert {name for name in before if before[name] != after[name]} == changed


def test_where_everything_may_reach_everything_each_change_counts() -> None:
    text = TEXT.replace("return scale(x)", 'return globals()["scale"](x)')
    before, after = digests(text), digests(text.replace("x + 1", "x + 2"))
    assert all(before[name] != after[name] for name in before)


@pytest.mark.parametrize(
    ("text", "inside", "found"),
    [
        ("class Down", "Down", Referred("Down", defined=True)),
        ("class Down", "class", None),
        ("forward(self, x):\n        return scale", "forward", Referred("Down", defined=True)),
        ("scale(x)\n\n\nclass Net", "scale", Referred("scale")),
        ("def register", "register", Referred("register", defined=True)),
        ("def __init__", "__init__", None),
        ("self.down(self.stem(x))", "down(", Referred("Down")),
        ("self.down(self.stem(x))", "stem", Referred("Stem", "parts.blocks")),
        ("First(WIDTH)", "First", Referred("Stem", "parts.blocks")),
        ("= stage(x)", "stage", Referred("Down")),
        ("= other(x)", "other", None),
        ("self.head(x)", "head", None),
        ("self.down = ", "down", None),
        ("net(1)", "net", Referred("Net")),
        ("models.UNet(3)", "UNet", Referred("UNet", "models")),
        ("models.unet.UNet()", "UNet", None),
    ],
)
def test_what_a_name_stands_for(text: str, inside: str, found: Referred | None) -> None:
    source = SourceText("a.py", TEXT)
    place = TEXT.index(text) + text.index(inside) + 1
    assert referred(source, source.position(place)) == found
    assert referred(source, Position(5, 1)) is None


def test_which_file_an_import_may_mean() -> None:
    assert is_called("/work/parts/blocks.py", "parts.blocks") and is_called("/work/parts/__init__.py", "parts")
    assert not is_called("/work/blocks.py", "parts.blocks") and not is_called("/work/other.py", "")


CALLED = """import torch.nn as nn


class Plain(nn.Module):
    def forward(self, x):
        return x


class Net(nn.Module):
    def __init__(self, block, sizes):
        super().__init__()
        self.body = nn.Sequential(*[block() for _ in sizes])

    def forward(self, x):
        return self.body(x)


def small(sizes=[1, 2], seed=0):
    print(seed)
    return Net(Plain, sizes)
"""


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("return x\n", "return x + 1\n", True),
        ("[1, 2]", "[1, 2, 3]", True),
        ("Net(Plain,", "Net(nn.Identity,", True),
        ("print(seed)", "sizes = sizes + [seed]", True),
        ("print(seed)", "print(seed + 1)", False),
    ],
)
def test_a_class_depends_on_what_is_passed_to_its_constructor(old: str, new: str, changes: bool) -> None:
    before, after = (digests(text)["Net"] for text in (CALLED, CALLED.replace(old, new, 1)))
    assert (before != after) is changes

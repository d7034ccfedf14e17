"""Python's own constructs over tensors: match, enums, records, configuration, functional tools."""

from __future__ import annotations

import pytest

from tests.check import analyze

IMPORTS = """\
import enum, json, random
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass, field
from functools import partial, reduce, wraps
from typing import NamedTuple
import torch
import somewhere
from torch import nn
import torch.nn.functional as F
"""


def shape(text: str, name: str = "y") -> object:
    found = [item for item in analyze(IMPORTS + text).facts if item.binding == name]
    return found[-1].shape if found else None


MATCH = """\
@dataclass
class Conv:
    channels: int
    kernel: int = 3
def build(item):
    match item:
        case Conv(channels=c, kernel=5):
            return torch.zeros(c, 5)
        case Conv(c):
            return torch.zeros(c)
        case "flat" | "flatten":
            return torch.zeros(1)
        case ("drop", p) if p > 1:
            return torch.zeros(2)
        case ("drop", p):
            return torch.zeros(2, 2)
        case {"units": n, **rest}:
            return torch.zeros(n, len(rest))
        case [a, *others]:
            return torch.zeros(a, len(others))
        case int(n):
            return torch.zeros(n, n)
        case None:
            return torch.zeros(9)
        case _:
            return torch.zeros(0)
"""


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Conv(4, 5)", (4, 5)),
        ("Conv(4)", (4,)),
        ("'flatten'", (1,)),
        ("('drop', 2)", (2,)),
        ("('drop', 0.5)", (2, 2)),
        ("{'units': 6, 'bias': True}", (6, 1)),
        ("[3, 4, 5]", (3, 2)),
        ("7", (7, 7)),
        ("None", (9,)),
        ("2.5", (0,)),
    ],
)
def test_match(subject: str, expected: object) -> None:
    assert shape(f"{MATCH}y = build({subject})\n") == expected


def test_a_subject_that_is_not_known_takes_every_case_that_may_fit() -> None:
    text = "x = torch.zeros(2, 3)\nmatch somewhere.mode():\n    case 'a':\n        y = x\n    case _:\n        y = x * 2\nz = y + 1\n"
    assert shape(text, "z") == (2, 3)
    text = "match torch.zeros(4, 5).shape:\n    case (n, c, h, w):\n        y = torch.zeros(1)\n    case (n, d):\n        y = torch.zeros(d, n)\n"
    assert shape(text) == (5, 4)


def test_enums() -> None:
    text = """\
class Pool(enum.Enum):
    AVG = "avg"
    MAX = "max"
    @property
    def width(self):
        return 3 if self is Pool.AVG else 4
class Mode(enum.IntEnum):
    TRAIN = enum.auto()
    EVAL = enum.auto()
"""
    assert shape(f"{text}y = torch.zeros(Pool.AVG.width, Pool('max').width)\n") == (3, 4)
    assert shape(f"{text}y = torch.zeros(len([p for p in Pool]), Mode.EVAL.value)\n") == (2, 2)
    assert shape(f"{text}y = torch.zeros(5) if Mode.TRAIN == 1 else torch.zeros(6)\n") == (5,)
    assert shape(f"{text}y = torch.zeros(5) if Pool.AVG == Pool.MAX else torch.zeros(6)\n") == (6,)


def test_named_tuples() -> None:
    text = """\
class Batch(NamedTuple):
    images: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor = None
    def doubled(self):
        return Batch(*(t * 2 if t is not None else None for t in self))
    @property
    def size(self):
        return self.images.shape[0]
Step = namedtuple("Step", "state, action")
b = Batch(torch.zeros(4, 3), torch.zeros(4)).doubled()
"""
    assert shape(f"{text}y = b.images\n") == (4, 3)
    assert shape(f"{text}images, labels, _ = b\ny = labels\n") == (4,)
    assert shape(f"{text}y = torch.zeros(b.size, len(b))\n") == (4, 3)
    assert shape(f"{text}y = b[0]\n") == (4, 3)
    assert shape(f"{text}y = b._replace(images=torch.zeros(7)).images\n") == (7,)
    assert shape(f"{text}s = Step(torch.zeros(2), action=torch.zeros(3))\ny = s.action\n") == (3,)
    assert shape(
        f"{text}steps = [Step(torch.zeros(1, 2), 0)] * 5\nc = Step(*zip(*steps))\ny = torch.cat(c.state)\n"
    ) == (5, 2)

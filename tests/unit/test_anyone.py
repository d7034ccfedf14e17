"""An element at a place that is not known, of a list of objects that are alike: what is known of it, and what changes with it."""

from __future__ import annotations

import pytest

from tests.check import analyze

CLIENTS = """\
import random, somewhere
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
class Client:
    def __init__(self, number, count):
        self.number, self.x, self.last, self.log = number, torch.randn(count, 8), torch.zeros(3), []
        self.loader = DataLoader(TensorDataset(self.x), batch_size=4)
        self.criterion = nn.MSELoss()
    def width(self):
        return torch.zeros(self.x.shape[1])
    def remember(self, size):
        self.last = torch.zeros(size)
        return torch.zeros(len(self.last))
    def append(self):
        self.log.append(1)
class Box:
    def __init__(self):
        self.inside = None
clients = [Client(k, 10 + k) for k in range(9)]
"""


def shape(text: str, name: str = "y") -> object:
    found = [item for item in analyze(CLIENTS + text).facts if item.binding == name]
    return found[-1].shape if found else None


@pytest.mark.parametrize(
    "one",
    [
        "client = clients[somewhere.number()]",
        "client = random.choice(clients)",
        "client = random.sample(clients, 2)[1]",
        "client = random.sample(clients, somewhere.number())[0]",
        "client = {k: c for k, c in enumerate(clients)}[somewhere.number()]",
        "for client in random.sample(clients, 3): pass",
        "for client in random.sample(clients, somewhere.number()): pass",
        "client = [clients[k] for k in somewhere.numbers()][0]",
        "client = random.choice(random.sample(clients, 5))",
    ],
)
def test_what_all_have_in_common_is_known_of_one(one: str) -> None:
    assert shape(f"{one}\ny = client.width()\n") == (8,)
    assert shape(f"{one}\nfor (y,) in client.loader: pass\n")[1:] == (8,)  # type: ignore[index]
    assert shape(f"{one}\ny = client.criterion(client.x, client.x)\n") == ()
    assert shape(f"{one}\ny = torch.zeros(client.x.shape[0], 2)\n")[1:] == (2,)  # type: ignore[index]
    assert not isinstance(shape(f"{one}\ny = torch.zeros(client.x.shape[0], 2)\n")[0], int)  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What is written to one is read of it again,
        ("client = clients[somewhere.number()]\ny = client.remember(5)\n", 5),
        # but may, or may not, have been written to any other.
        ("clients[somewhere.number()].remember(5)\ny = clients[2].last\n", None),
        ("clients[somewhere.number()].remember(5)\ny = clients[somewhere.number()].last\n", None),
        ("a, b = random.sample(clients, 2)\na.remember(5)\ny = b.last\n", None),
        ("client = clients[somewhere.number()]\nclients[2].remember(5)\ny = client.last\n", None),
        ("client = clients[somewhere.number()]\nclients[2].remember(5)\ny = clients[3].last\n", 3),
        ("clients[somewhere.number()].remember(3)\ny = clients[2].last\n", 3),
        ("clients[somewhere.number()].append()\ny = torch.zeros(len(clients[2].log) + 1)\n", None),
        ("client = clients[somewhere.number()]\nif somewhere.known(): client.remember(5)\ny = client.last\n", None),
        (
            "for client in random.sample(clients, 4):\n    y = client.last\n    client.remember(client.number + 5)\n",
            None,
        ),
        # What is made of one that is not known is copied as any object.
        ("import copy\nclient = copy.copy(clients[somewhere.number()])\nclient.remember(5)\ny = clients[1].last\n", 3),
    ],
)
def test_what_is_written_to_one_may_be_written_to_each(text: str, expected: int | None) -> None:
    found = shape(text)
    size = found[0] if isinstance(found, tuple) and found else None
    assert size == expected if isinstance(expected, int) else not isinstance(size, int)


@pytest.mark.parametrize(
    "test",
    [
        "one is clients[2]",
        "one == clients[2]",
        "one in clients[:2]",
        "one is clients[somewhere.number()]",
        "clients[2] in {one}",
        "hasattr(one, 'missing') or one.number == 2",
    ],
)
def test_which_one_it_is_is_not_known(test: str) -> None:
    text = f"one = clients[somewhere.number()]\ny = torch.zeros(2) if {test} else torch.zeros(3)\n"
    found = shape(text)
    assert isinstance(found, tuple) and not isinstance(found[0], int)


def test_objects_of_different_kinds_are_not_known() -> None:
    assert shape("one = (clients + [Box()])[somewhere.number()]\ny = one.x\n") is None


def test_objects_that_hold_one_another() -> None:
    ring = "for k in range(9): clients[k].next, clients[k].others = clients[(k + 1) % 9], clients[:k]\n"
    assert shape(f"{ring}y = clients[somewhere.number()].next.next.next.next.next.width()\n") in ((8,), None)

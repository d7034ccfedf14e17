"""Modules of the workspace: executed once, and those of a large package only as far as their names are needed."""

from __future__ import annotations

import ast

import pytest

from tests.check import analyze
from torchsleuth.interp.importing import _bound, _changed

HEAVY = f"TABLE = [{'0, ' * 41000}]\nLAST = 1\n"
"""Takes more than what the bodies of imported modules may take, so that its last statement waits."""


def shapes(text: str, **modules: str) -> dict[str, object]:
    found = analyze(f"import torch\n{text}", **modules)
    assert found.stats["internal_errors"] == [] and found.stats["incomplete"] is None
    return {fact.binding: fact.shape for fact in found.facts if fact.binding}


LAYERS = """
import torch
from torch import nn
from sizes import *
from sizes import scale as factor
default = WIDTH
WIDE = factor * default

class Base(nn.Module):
    def __init__(self, width=default):
        super().__init__()
        self.fc = nn.Linear(width, WIDE)

class Block(Base):
    def forward(self, x):
        return helper(self.fc(x))

def helper(x):
    return x.flatten(1)
"""
SIZES = "WIDTH = 4\nscale = 2\nif WIDTH > 3:\n    DEPTH = 7\nelse:\n    DEPTH = 1\n"


@pytest.mark.parametrize("first", ["import small", "import heavy"])
def test_the_names_of_a_module_are_the_same_when_it_is_executed_as_needed(first: str) -> None:
    text = f"{first}\nimport layers\nfrom layers import DEPTH\ny = layers.Block()(torch.zeros(2, 4))\nz = torch.zeros(DEPTH)"
    found = shapes(text, heavy=HEAVY, small="", layers=LAYERS, sizes=SIZES)
    assert found["y"] == (2, 8) and found["z"] == (7,)


ORDER = "n = 2\nfirst = n\nn = 3\nn += 1\nclass A:\n    n = n + 1\n"


@pytest.mark.parametrize("first", ["import small", "import heavy"])
@pytest.mark.parametrize("names", ["first, n", "n, first"])
def test_a_name_that_is_bound_again_keeps_its_order(first: str, names: str) -> None:
    text = f"{first}\nfrom order import {names}, A\na, b, c = torch.zeros(first), torch.zeros(n), torch.zeros(A.n)"
    found = shapes(text, heavy=HEAVY, small="", order=ORDER)
    assert (found["a"], found["b"], found["c"]) == ((2,), (4,), (5,))


REGISTRY = """
SIZES = {}
FIXED = {"a": 3}
SHARED = {"a": 3}
def register(name, size):
    SIZES[name] = size
def fixed(name):
    return FIXED[name]
def share():
    return SHARED
class Store:
    def __init__(self):
        self.held = {}
    def put(self, name):
        self.held[name] = 1
store = Store()
"""
USE = """
from registry import SIZES, FIXED, SHARED, store
a = torch.zeros(5 if "a" in SIZES else 6)
b = torch.zeros(FIXED["a"])
c = torch.zeros(SHARED["a"])
d = torch.zeros(1 if "a" in store.held else 2)
"""


def test_what_is_not_executed_may_have_filled_a_container() -> None:
    known = shapes(USE, registry=REGISTRY)
    assert [known[name] for name in "abcd"] == [(6,), (3,), (3,), (2,)]
    for order in ("import heavy\nimport registry", "import registry\nimport heavy"):
        found = shapes(order + USE, registry=REGISTRY, heavy=HEAVY)
        assert found["b"] == (3,)
        assert found.get("a") != (6,) and found.get("c") != (3,) and found.get("d") != (2,)


def test_an_import_inside_of_a_function_or_a_branch_stays_done() -> None:
    text = """
def f(x):
    from sizes import WIDTH
    return torch.zeros(WIDTH)
def g(flag):
    if flag:
        from sizes import WIDTH
    else:
        from sizes import WIDTH
    z = torch.zeros(WIDTH)
"""
    assert shapes(text, sizes=SIZES)["z"] == (4,)


def test_modules_that_import_each_other() -> None:
    text = "from one import A\ny = torch.zeros(A)\n"
    one = "from two import B\nC = 1\nA = B + C\n"
    two = "import one\nfrom one import C\nB = C + 1\n"
    assert shapes(text, one=one, two=two)["y"] == (3,)


SLOW = """
def slowly(value):
    text = ""
    for i in range(60):
        for j in range(60):
            text = text + str(i * j) + str(j)
    return value

def register(name=None):
    def inner(value):
        return slowly(value)
    return inner
"""


def test_a_decorator_that_takes_long_hands_back_the_class() -> None:
    text = "from torch import nn\nfrom slow import slowly, register\n" + "".join(
        f"@{mark}\nclass A{i}(nn.Module):\n    def forward(self, x):\n        return x.flatten(1)\n"
        for i, mark in enumerate(("slowly", "register('a')") * 60)
    )
    assert shapes(f"{text}y = A119()(torch.zeros(2, 3, 4))", slow=SLOW)["y"] == (2, 12)


def test_recursion_over_what_is_not_known_comes_to_an_end() -> None:
    text = """
import somewhere
def describe(kind, level=0):
    parts = []
    for one in somewhere.parts(kind):
        parts.append(describe(one, level + 1))
        parts.append([describe(other, level + 1) for other in one])
    return parts or [describe(one) for one in kind]
describe(somewhere.kind)
y = torch.zeros(3)
"""
    assert shapes(text)["y"] == (3,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = b = 1", "a b"),
        ("import os.path, x as y", "os y"),
        ("from m import *", ""),
        ("for i, (j, *k) in z:\n    w = 1", "i j k w"),
        ("try:\n    import q\nexcept E as e:\n    q = None", "q e"),
        ("if (n := f()):\n    def g():\n        inner = 1", "n g"),
        ("with o as p:\n    r.s = 1\n    t[0] = 2", "p"),
    ],
)
def test_what_a_statement_binds(text: str, expected: str) -> None:
    assert set(_bound(ast.parse(text).body[0])) == set(expected.split())


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("D[k]", False),
        ("k in D and D.get(k)", False),
        ("for k, v in D.items(): pass", False),
        ("list(D)", False),
        ("D[k] = 1", True),
        ("D.update(x)", True),
        ("f(D)", True),
        ("return_ = D", True),
        ("self.D.append(1)", True),
        ("D += [1]", True),
    ],
)
def test_what_may_change_a_container(text: str, changed: bool) -> None:
    assert ("D" in set(_changed(ast.parse(text)))) is changed

"""Modules of the workspace: executed once, and those of a large package only as far as their names are needed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.check import analyze, engine
from torchsleuth.interp.importing import _bound, _changed
from torchsleuth.interp.imports import Workspace

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


NET = "import torch.nn as nn\n\nclass Net(nn.Linear):\n    def __init__(self, width):\n        super().__init__(width, 3)\n"
LOOKED_UP = [
    "import nets.small\nnet = nets.small.Net(4)",
    "import nets.small\nnet = getattr(nets.small, 'Net')(4)",
    "import nets.deep.small\nnet = nets.deep.small.Net(4)",
    "from nets import small\nnet = small.Net(4)",
    "from nets.deep import small as chosen\nnet = chosen.Net(4)",
    "import nets as n\nnet = n.small.Net(4)",
    "from nets.family import make\nnet = make(4)",
    "import package.small\nnet = package.small.Net(4)",
    "import package.small\nnet = package.small.__dict__['Net'](4)",
    "import importlib\nnet = importlib.import_module('nets.small').Net(4)",
    "import importlib\nnet = getattr(importlib.import_module('.small', package='nets'), 'Net')(4)",
    "import sys\nfrom nets.small import Net\nnet = getattr(sys.modules[__name__], 'Net')(4)",
    "import sys\nimport package.small\nnet = sys.modules['package.small'].Net(4)",
    "from nets.small import Net\nnet = eval('Net')(4)",
    "import nets.small\nnet = eval('nets.small.Net')(4)",
    "net = __import__('nets.small', fromlist=['Net']).Net(4)",
]


@pytest.mark.parametrize("text", LOOKED_UP)
def test_modules_of_folders_and_names_by_text(text: str, tmp_path: Path) -> None:
    files = {
        "nets/small.py": NET,
        "nets/deep/small.py": NET,
        "nets/family.py": "from . import small\n\ndef make(width):\n    return small.Net(width)\n",
        "package/__init__.py": "",
        "package/small.py": NET,
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    whole = f"import torch\n{text}\ny = net(torch.zeros(2, 4))\nz = net(torch.zeros(2, 5))\n"
    found = engine().analyze(str(tmp_path / "main.py"), whole, roots=(str(tmp_path),))
    assert [item.code for item in found.diagnostics] == ["TS101"] and found.stats["internal_errors"] == []
    assert {fact.binding: fact.shape for fact in found.facts if fact.binding}["y"] == (2, 3)


@pytest.mark.parametrize(
    "text",
    [
        "import nets\nnet = nets.absent.Net(4)",
        "import importlib\nnet = importlib.import_module(name).Net(4)",
        "import importlib\nnet = importlib.import_module('...small', package='nets').Net(4)",
        "net = eval('Net(4)')",
        "net = eval('Absent')",
        "import sys\nnet = sys.modules['nets.absent'].Net(4)",
    ],
)
def test_what_is_not_there_is_unknown(text: str, tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "small.py").write_text(NET)
    whole = f"import torch\n{text}\nz = net(torch.zeros(2, 5))\n"
    found = engine().analyze(str(tmp_path / "main.py"), whole, roots=(str(tmp_path),))
    assert found.diagnostics == () and found.stats["internal_errors"] == []


BATCH = "import torch\nimport sys\nfrom torch import nn\nlengths = [len(word) for word in sys.argv]\nn, longest = len(sys.argv), max(lengths)\n"


@pytest.mark.parametrize(
    "text, code",
    [
        ("torch.zeros(8, n, 40) * torch.zeros(8, n, 20)", "TS103"),
        ("torch.zeros(n, 40) @ torch.zeros(20, 3)", "TS101"),
        ("torch.cat([torch.zeros(n, 40), torch.zeros(3, 20)], 0)", "TS106"),
        ("nn.GRU(6, 5, batch_first=True, bidirectional=True)(torch.zeros(8, n, 6))[0] * torch.zeros(8, n, 5)", "TS103"),
        ("torch.zeros(8, n, 40) * torch.zeros(8, n, 1)", ""),
        ("torch.zeros(8, n, 40) * torch.zeros(n, 40)", ""),
        ("torch.cat([torch.zeros(n), torch.zeros(2, 3)])", ""),
        ("torch.zeros(n, 4) + torch.zeros(3, 4)", ""),
        ("nn.GRU(6, 5, batch_first=True)(torch.zeros(8, n, 6))[0] * torch.zeros(8, n, 5)", ""),
    ],
)
def test_sizes_that_may_be_zero_hide_no_others(text: str, code: str) -> None:
    found = analyze(f"{BATCH}y = {text}\n")
    assert [item.code for item in found.diagnostics] == [code] * bool(code)


def test_the_longest_of_many_is_one_size() -> None:
    text = "words = [torch.zeros(len(sys.argv[i])) for i in range(8)]\nlongest = max(len(word) for word in words)\n"
    text += "x, y = torch.zeros(8, longest, 40), torch.zeros(8, max(len(word) for word in words), 20)\n"
    assert analyze(f"import torch\nimport sys\n{text}z = x + y[..., :1]\n").diagnostics == ()
    assert [item.code for item in analyze(f"import torch\nimport sys\n{text}z = x * y\n").diagnostics] == ["TS103"]


@pytest.mark.parametrize("marker", ["setup.py", "pyproject.toml", "requirements.txt", ".git"])
def test_imports_start_from_the_project_that_a_file_is_in(marker: str, tmp_path: Path) -> None:
    files = {
        f"project/{marker}": "",
        "project/nets/small.py": NET,
        "project/scripts/train.py": "",
        "nets/small.py": NET.replace("nn.Linear(width, 3)", "nn.Linear(width, 7)"),
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    text = "import torch\nfrom nets.small import Net\ny = Net(4)(torch.zeros(2, 4))\n"
    found = engine().analyze(str(tmp_path / "project/scripts/train.py"), text, roots=(str(tmp_path / "elsewhere"),))
    assert {fact.binding: fact.shape for fact in found.facts if fact.binding}["y"] == (2, 3)


def test_a_script_may_be_started_from_a_folder_around_the_importer(tmp_path: Path) -> None:
    files = {"part/nets/small.py": NET, "part/models/main.py": "", "other/nets/family.py": NET}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    whole = "import torch\nfrom nets.small import Net\ny = Net(4)(torch.zeros(2, 4))\n"
    found = engine().analyze(str(tmp_path / "part/models/main.py"), whole, roots=(str(tmp_path),))
    assert {fact.binding: fact.shape for fact in found.facts if fact.binding}["y"] == (2, 3)
    elsewhere = "import torch\nfrom nets.family import Net\ny = Net(4)(torch.zeros(2, 4))\n"
    found = engine().analyze(str(tmp_path / "part/models/main.py"), elsewhere, roots=(str(tmp_path),))
    assert "y" not in {fact.binding for fact in found.facts if fact.shape is not None}


def test_files_that_name_the_file_go_before_others_that_speak_of_the_same(tmp_path: Path) -> None:
    texts = {
        "nets/encoder.py": "class Encoder:\n    pass\n",
        "short.py": "Encoder = None\n",
        "model.py": "from nets.encoder import Encoder\n\nmodel = Encoder()\n",
    }
    for name, content in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    found = Workspace({}, (str(tmp_path),)).mentioning("Encoder", str(tmp_path / "nets/encoder.py"))
    assert [Path(source.path).name for source in found] == ["model.py", "short.py"]


def test_what_is_installed_beside_a_package_is_not_the_users(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    for name in ("models", "torch"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("", encoding="utf-8")
    importer = folder / "models" / "layers.py"
    importer.write_text("import torch\nfrom models import sizes\nwidth = 1\n", encoding="utf-8")
    (folder / "models" / "sizes.py").write_text("width = 2\n", encoding="utf-8")
    (folder / "torch" / "other.py").write_text("width = 3\n", encoding="utf-8")
    workspace = Workspace({}, (str(folder),))
    assert workspace.find("torch", str(importer), 0) is None
    assert workspace.find("models.sizes", str(importer), 0) is not None
    assert [Path(one.path).name for one in workspace.mentioning("width", str(importer))] == ["sizes.py"]

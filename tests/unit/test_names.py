"""Library names by the imports in scope, and the edits of arguments and imports."""

from __future__ import annotations

import ast

import pytest

from torchsleuth.syntax import edits
from torchsleuth.syntax.names import Names, imported_from
from torchsleuth.syntax.text import SourceText


def uses(text: str) -> list[str]:
    return [f"{use.path}{'()' if use.call is not None else ''}" for use in Names(ast.parse(text)).uses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\ntorch.nn.Linear(1, 2)", ["torch.nn.Linear()"]),
        ("import torch.nn as nn\nnn.Linear", ["torch.nn.Linear"]),
        ("import torch.utils.data\ntorch.load('a')", ["torch.load()"]),
        ("from torch import nn as n\nn.Linear(n.ReLU())", ["torch.nn.Linear()", "torch.nn.ReLU()"]),
        ("from torch import qr\nqr(x)[0].norm()", ["torch.qr()"]),
        ("def f():\n    import torch\n    torch.qr(1)\ntorch.qr(2)", ["torch.qr()"]),
        ("import torch\ndef f(torch):\n    torch.qr(1)", []),
        ("import torch\nclass A:\n    torch = 1\n    def f(self):\n        torch.qr(1)", ["torch.qr()"]),
        ("import torch\ntorch = 1\ntorch.qr(1)", []),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.qr(1)", ["torch.qr()"]),
        ("from torch import load\ndef load(path): ...\nload(1)", []),
        ("[torch.qr(x) for torch in y]\nimport torch", []),
        ("[torch.qr(x) for x in y]\nimport torch", ["torch.qr()"]),
        ("def f(x: torch.Tensor = torch.ones(1)): ...\nimport torch", ["torch.ones()", "torch.Tensor"]),
        ("import torch\n@torch.no_grad()\ndef f(): ...", ["torch.no_grad()"]),
        ("def f():\n    global torch\n    import torch\ntorch.qr(1)", ["torch.qr()"]),
        ("from . import torch\ntorch.qr(1)", ["..torch.qr()"]),
        ("match x:\n    case {'a': torch}:\n        torch.qr(1)\nimport torch", []),
        ("x.torch.qr(1)\nqr(1)", []),
    ],
)
def test_names_are_found_through_their_imports(text: str, expected: list[str]) -> None:
    assert sorted(uses(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("torch.qr(1)", False),
        ("if x:\n    torch.qr(1)", False),
        ("if hasattr(torch, 'qr'):\n    torch.qr(1)", True),
        ("if torch.__version__ < '2':\n    pass\nelse:\n    torch.qr(1)", True),
        ("if TORCH_OLD:\n    torch.qr(1)", True),
        ("torch.linalg.qr(1) if NEW else torch.qr(1)", True),
        ("y = torch.linalg.qr(1) if x else torch.qr(1)", False),
        ("hasattr(torch, 'qr') and torch.qr(1)", True),
        ("torch.qr(1) and hasattr(torch, 'qr')", False),
        ("def f():\n    if NEW:\n        return 1\n    return torch.qr(1)", True),
        ("def f():\n    if NEW:\n        print()\n    return torch.qr(1)", False),
        ("def f():\n    if NEW:\n        return 1\ntorch.qr(1)", False),
        ("try:\n    torch.linalg.a()\nexcept AttributeError:\n    torch.qr(1)", True),
        ("try:\n    torch.qr(1)\nexcept KeyboardInterrupt:\n    pass", False),
        ("try:\n    torch.qr(1)\nfinally:\n    pass", False),
    ],
)
def test_what_is_written_for_another_version_is_guarded(text: str, guarded: bool) -> None:
    (use,) = [use for use in Names(ast.parse(f"import torch\n{text}")).uses if use.path == "torch.qr"]
    assert use.guarded is guarded


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f()", "f(z=1)"),
        ("f(a)", "f(a, z=1)"),
        ("f(a, )", "f(a, z=1)"),
        ("f(a,)", "f(a, z=1)"),
        ("f((a))", "f((a), z=1)"),
        ("f(*a, **k)", "f(*a, **k, z=1)"),
        ("f(\n    a,\n    b=2,  # hi, there\n)", "f(\n    a,\n    b=2,\n    z=1,  # hi, there\n)"),
        ("f(\n    a,\n    b  # no comma, here\n)", "f(\n    a,\n    b, z=1  # no comma, here\n)"),
    ],
)
def test_an_argument_is_added(call: str, expected: str) -> None:
    source = SourceText("a.py", call)
    node = ast.parse(call).body[0].value  # type: ignore[attr-defined]
    assert source.apply((edits.add_argument(source, node, "z=1"),)) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f(a=1)", "f()"),
        ("f(x, a=1)", "f(x)"),
        ("f(a=1, b=2)", "f(b=2)"),
        ("f((x), a=1,)", "f((x),)"),
        ("f(\n  x,\n  a=1,\n  b=2)", "f(\n  x,\n  b=2)"),
    ],
)
def test_a_keyword_is_removed(call: str, expected: str) -> None:
    source = SourceText("a.py", call)
    node = ast.parse(call).body[0].value  # type: ignore[attr-defined]
    assert source.apply((edits.remove_keyword(source, node, node.keywords[0]),)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "import torch\n"),
        ("x = 1\n", "import torch\nx = 1\n"),
        ("import torch\nx = 1\n", "import torch\nx = 1\n"),
        ('"""doc"""\n\nx = 1\n', '"""doc"""\nimport torch\n\nx = 1\n'),
        (
            "from __future__ import annotations\nimport os  # why\n\nx = 1\nimport re\n",
            "from __future__ import annotations\nimport os  # why\nimport torch\n\nx = 1\nimport re\n",
        ),
        ("import os\r\nx = 1\r\n", "import os\r\nimport torch\r\nx = 1\r\n"),
    ],
)
def test_an_import_is_added_once(text: str, expected: str) -> None:
    source = SourceText("a.py", text)
    assert source.apply(edits.add_import(source, ast.parse(text), "import torch")) == expected


def test_imported_files_are_followed() -> None:
    others = {"b.py": "from pkg import c\n", "pkg/c.py": "x = 1\n", "d.py": "", "pkg/__init__.py": ""}
    assert imported_from("a.py", "import b\n", others) == ["b.py", "pkg/c.py", "pkg/__init__.py"]

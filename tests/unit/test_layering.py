"""Dependencies point one way, and only the rooms that may do so import torch or the protocol."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "server" / "torchsleuth"
ALLOWED = {
    "schema": set(),
    "messages": set(),
    "syntax": {"schema"},
    "tensors": set(),
    "oracle": {"tensors"},
    "interp": {"schema", "syntax", "tensors", "oracle"},
    "rules": {"schema", "messages", "syntax", "tensors", "interp"},
    "errors": {"schema", "messages", "syntax"},
    "runtime": {"schema", "syntax", "errors"},
    "repair": {"schema", "syntax", "rules", "runtime"},
    "worker": {"schema", "syntax", "tensors", "oracle", "interp", "rules", "repair"},
    "lsp": {"schema", "messages", "syntax", "rules", "runtime", "worker"},
    "cli": {"schema", "messages", "syntax", "rules", "runtime", "repair", "worker", "lsp"},
}
INJECTED = ("__main__", "rewrite", "recorder", "registry", "crash", "events")


def imports(path: Path) -> set[str]:
    """Dotted names of everything a file imports, at any depth."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in {path}"
            found.add(node.module or "")
    return found


FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in ALLOWED)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for name in imports(path):
        top, _, rest = name.partition(".")
        if top == "torchsleuth" and rest:
            target = rest.partition(".")[0]
            assert target == room or target in ALLOWED[room] | {"__version__"}, f"{path}: {name}"
        if top in ("torch", "sympy"):
            assert room == "oracle" or path == ROOT / "worker" / "__main__.py", f"{path}: {name}"
        if top in ("pygls", "lsprotocol"):
            assert room == "lsp", f"{path}: {name}"
        if top in ("typer", "rich"):
            assert room == "cli", f"{path}: {name}"


@pytest.mark.parametrize("name", INJECTED)
def test_injected_code_needs_nothing_but_python(name: str) -> None:
    for imported in imports(ROOT / "runtime" / f"{name}.py"):
        if imported.startswith("torchsleuth"):
            assert imported.removeprefix("torchsleuth.runtime.") in INJECTED, imported


def test_every_file_says_what_it_is_for() -> None:
    for path in ROOT.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path

"""Dependencies point one way, and only the rooms that may do so import torch or the protocol."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "server" / "torchsleuth"
EXCHANGED = {"schema", "messages", "escaping", "numbers", "sifting"}
ALLOWED = {
    "schema": set(),
    "wall": set(),
    "caches": set(),
    "lifetime": set(),
    "escaping": set(),
    "numbers": set(),
    "sifting": set(),
    "installed": set(),
    "messages": {"escaping"},
    "explanations": {"messages"},
    "faults": EXCHANGED | {"faults_of_runs"},
    "faults_of_runs": set(),
    "syntax": EXCHANGED,
    "tensors": set(),
    "oracle": {"caches", "tensors", "wall"},
    "values": EXCHANGED | {"syntax", "tensors"},
    "synthesis": {"tensors"},
    "interp": EXCHANGED | {"installed", "syntax", "tensors", "oracle", "values"},
    "rules": EXCHANGED | {"explanations", "installed", "faults", "synthesis", "syntax", "tensors", "values", "interp"},
    "errors": EXCHANGED | {"explanations", "faults", "synthesis", "syntax"},
    "training": {"schema"},
    "verdicts": EXCHANGED | {"faults", "syntax", "training"},
    "runtime": EXCHANGED | {"syntax", "errors", "training", "verdicts"},
    "report": EXCHANGED | {"caches", "faults", "syntax", "training", "runtime"},
    "probing": EXCHANGED | {"syntax", "runtime", "report"},
    "repair": EXCHANGED | {"syntax", "rules", "runtime"},
    "worker": EXCHANGED
    | {"caches", "faults", "lifetime", "wall", "syntax", "tensors", "oracle", "values", "interp", "rules", "repair"},
    "lookup": {"lifetime", "wall"},
    "control": EXCHANGED | {"faults", "syntax"},
    "lsp": EXCHANGED | {"faults", "syntax", "runtime", "report", "probing", "worker", "control", "lookup"},
    "__main__": {"cli"},
    "cli": EXCHANGED
    | {
        "faults",
        "syntax",
        "training",
        "runtime",
        "report",
        "probing",
        "repair",
        "verdicts",
        "worker",
        "control",
        "lookup",
        "lsp",
    },
}
"""What each room may import beside itself."""
TORCH = {"oracle", "runtime", "worker/__main__.py"}
"""Who may import torch: the oracle, what runs beside the user's script, and the worker that looks whether it is there."""
FILES = sorted(
    path for path in ROOT.rglob("*.py") if path.parent != ROOT / "interp" / "frameworks"
)  # read, never imported
INJECTED = [
    "runtime/launch.py",
    "runtime/__main__.py",
    "runtime/environment.py",
    "worker/__main__.py",
    "worker/engine.py",
]
"""What is started in the user's interpreter, where nothing but torch can be counted on."""
MOST_IN_A_CYCLE = 5
"""Modules that may import one another."""


def imports(path: Path) -> set[str]:
    """Dotted names of all modules a file imports, at any depth; `from package import module` is both."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"relative import in {path}"
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def file_of(module: str) -> Path | None:
    """The file of a module of ours, None for names that are no module."""
    parts = module.split(".")
    if parts[0] != "torchsleuth":
        return None
    base = ROOT.joinpath(*parts[1:])
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    room, place = room_of(path), path.relative_to(ROOT).as_posix()
    assert room in {*ALLOWED, "__init__"}, f"{place} is in no room that ARCHITECTURE.md knows"
    for name in imports(path):
        top = name.partition(".")[0]
        target = file_of(name)
        if target is not None and target != ROOT / "__init__.py":
            assert room_of(target) in ALLOWED.get(room, set()) | {room}, f"{place} imports {name}"
        if top == "torch":
            assert {room, place} & TORCH, f"{place} imports {name}"
        if top == "sympy":
            assert room == "oracle", f"{place} imports {name}"
        if top in ("pygls", "lsprotocol"):
            assert room == "lsp", f"{place} imports {name}"
        if top in ("typer", "click", "rich"):
            assert room == "cli", f"{place} imports {name}"


@pytest.mark.parametrize("start", INJECTED)
def test_what_runs_in_the_users_interpreter_needs_only_torch(start: str) -> None:
    reached, waiting = set(), [ROOT / start]
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.add(path)
        for name in imports(path):
            top = name.partition(".")[0]
            if top != "torchsleuth":
                assert top in sys.stdlib_module_names or top in ("torch", "sympy"), f"{path} imports {name}"
            elif (target := file_of(name)) is not None:
                waiting.append(target)
    if start.startswith("runtime/"):
        outside = {
            path.relative_to(ROOT).as_posix() for path in reached if room_of(path) not in ("runtime", "__init__")
        }
        assert not outside, "what is injected beside the user's script stands alone"


def test_the_environment_probe_is_one_file() -> None:
    assert not [name for name in imports(ROOT / "runtime" / "environment.py") if name.startswith("torchsleuth")]


def test_server_and_command_line_start_without_torch() -> None:
    modules = ["torchsleuth.lsp.server", "torchsleuth.rules.registry", "torchsleuth.cli.main", "torchsleuth.cli.check"]
    code = f"import {', '.join(modules)}; import sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_more_than_five_modules_import_one_another() -> None:
    """All imports count: those of packages by what is inside of them, those inside of functions, and those that only types
    are taken from."""
    graph = {name_of(path): {name_of(target) for target in targets(path)} for path in FILES}
    cycles = [sorted(cycle) for cycle in components(graph) if len(cycle) > MOST_IN_A_CYCLE]
    assert not cycles


def targets(path: Path) -> Iterator[Path]:
    """The files of ours that run when this one is imported, or that it takes types from."""
    for name in imports(path):
        parts = name.split(".")
        reached = (file_of(".".join(parts[:length])) for length in range(2, len(parts) + 1))
        yield from (target for target in reached if target is not None and target != path)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix().removesuffix(".py").removesuffix("/__init__")


def components(graph: dict[str, set[str]]) -> Iterator[set[str]]:
    """The strongly connected components, by Kosaraju's algorithm."""

    def visit(start: str, edges: dict[str, set[str]], seen: set[str]) -> list[str]:
        """What is reached from a node and was not seen before, in the order in which all beyond it is done."""
        seen.add(start)
        return [name for to in edges[start] if to not in seen for name in visit(to, edges, seen)] + [start]

    backward: dict[str, set[str]] = {name: set() for name in graph}
    for name, to in graph.items():
        for target in to:
            backward[target].add(name)
    seen: set[str] = set()
    order = [name for start in graph if start not in seen for name in visit(start, graph, seen)]
    seen.clear()
    for start in reversed(order):
        if start not in seen:
            yield set(visit(start, backward, seen))


def test_cycles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"d"}, "e": {"a"}}
    assert sorted(map(sorted, components(graph))) == [["a", "b", "c"], ["d"], ["e"]]


def test_every_file_says_what_it_is_for() -> None:
    for path in FILES:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert text, path


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_unknown_values_are_recognised_by_their_kind(path: Path) -> None:
    """There are many, each with its reason: a comparison with the one that has none would miss the others."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare) and any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            names = [part.id for part in (node.left, *node.comparators) if isinstance(part, ast.Name)]
            assert "UNKNOWN" not in names, f"{path}:{node.lineno}: is_unknown() tells"

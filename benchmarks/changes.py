"""What faults are made with: statements taken out, calls renamed, rewritten or stripped of an argument."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from benchmarks.mutants import Change, Tree
from torchsleuth.syntax import edits

Maker = Callable[[Tree], Iterator[Change]]
"""Finds the places of a fault in a file."""


def where(condition: Callable[[Tree], bool], maker: Maker) -> Maker:
    """A fault only in scripts in which it does harm."""
    return lambda tree: maker(tree) if condition(tree) else iter(())


def on_accelerator(tree: Tree) -> bool:
    """Whether the script works on a GPU where there is one: else its tensors are all on the CPU."""
    return tree.says("is_available()") and (tree.says('"cuda"') or tree.says(".cuda("))


def expressions(tree: Tree, *names: str) -> list[tuple[list[ast.stmt], int]]:
    """Statements that are nothing but a call of a method with one of these names."""
    found = []
    for block, index in tree.statements():
        value = block[index].value if isinstance(block[index], ast.Expr) else None  # type: ignore[attr-defined]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in names:
            if id(value) not in tree.paths or value.func.attr.startswith("clip_grad"):
                found.append((block, index))
    return found


def all_removed(*names: str) -> Maker:
    def change(tree: Tree) -> Iterator[Change]:
        places = expressions(tree, *names)
        if places:
            changes = tuple(edit for block, index in places for edit in tree.without(block, index))
            block, index = places[0]
            yield block[index].lineno, f"without {tree.text(block[index])}", changes

    return change


def each_removed(*names: str) -> Maker:
    def change(tree: Tree) -> Iterator[Change]:
        for block, index in expressions(tree, *names):
            yield block[index].lineno, f"without {tree.text(block[index])}", tree.without(block, index)

    return change


def without_method(name: str, *behind: str) -> Maker:
    """``x`` for ``x.method()``. `behind`: only where one of these methods of the result is called."""

    def change(tree: Tree) -> Iterator[Change]:
        outer = {id(function.value) for _, function in tree.methods(*behind)}
        for call, function in tree.methods(name):
            if not call.args and (not behind or id(call) in outer):
                yield tree.put(call, tree.operand(function.value))

    return change


def without_keyword(name: str, *paths: str, leaving: tuple[str, ...] = ()) -> Maker:
    """A call of a library function without one of its options, save where it is False. `paths`: how the function's name
    begins. `leaving`: functions for which it does no harm."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            path = tree.paths.get(id(call), "")
            if path.startswith(paths) and path not in leaving and (call.args or len(call.keywords) > 1):
                for keyword in call.keywords:
                    if keyword.arg == name and ast.unparse(keyword.value) != "False":
                        edit = edits.remove_keyword(tree.source, call, keyword)
                        yield call.lineno, f"{tree.text(call)} without {name}", (edit,)

    return change


def renamed(old: str, new: str) -> Maker:
    """Another function of the library instead, called alike: ``nn.BCELoss`` for ``nn.BCEWithLogitsLoss``."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            if tree.paths.get(id(call), "").endswith(f".{old}") and isinstance(call.func, ast.Attribute):
                yield tree.put(call.func, f"{tree.source.segment(call.func.value)}.{new}")

    return change


def replaced(pattern: str, path: str, options: tuple[str, ...] = ()) -> Maker:
    """A call with one argument that is written as something else. `options`: keywords that it may have."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            if (
                tree.paths.get(id(call), "") == path
                and len(call.args) == 1
                and not isinstance(call.args[0], ast.Starred)
            ):
                if all(keyword.arg in options for keyword in call.keywords):
                    inner = ", ".join(tree.source.segment(part) for part in (call.args[0], *call.keywords))
                    yield tree.put(call, pattern.format(tree.source.segment(call.args[0]), all=inner))

    return change


def method_removed(name: str, base: str) -> Maker:
    def change(tree: Tree) -> Iterator[Change]:
        for block, index in tree.statements():
            part = block[index]
            if isinstance(part, ast.ClassDef) and any(ast.unparse(item).endswith(base) for item in part.bases):
                for place, method in enumerate(part.body):
                    if isinstance(method, ast.FunctionDef) and method.name == name:
                        yield method.lineno, f"{part.name} without {name}", tree.without(part.body, place)

    return change

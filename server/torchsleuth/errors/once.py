"""Tensors that a module computes from its parameters once, in its constructor: the first backward() frees their graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.reached import note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Position, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_dotted,
    is_method_call,
    loads,
    names_in,
    nodes_in,
)

_CUTS = ("detach", "item", "tolist", "numpy", "size", "numel", "dim")
_Computed = tuple[CrashFrame, ast.ClassDef, ast.Assign, str]


def _computed_once(case: Case) -> list[_Computed]:
    """``self.adj = torch.softmax(self.one @ self.other, -1)`` in the constructor, where ``self.one`` is a parameter."""
    found = []
    for file in case.files:
        for kind in file.all(ast.ClassDef):
            made = next((part for part in kind.body if getattr(part, "name", "") == "__init__"), None)
            pairs = [
                (node, target, value)
                for node in (nodes_in(made, ast.Assign) if made is not None else ())
                for target, value in assigned_pairs(node)
                if is_dotted(target, "self")
            ]
            learned = {
                target.attr
                for _, target, value in pairs
                if isinstance(target, ast.Attribute) and _is_learned(file, value)
            }
            for node, target, value in pairs:
                assert isinstance(target, ast.Attribute)
                if _is_computed(value, learned) and not _is_off(file, node) and _is_read(kind, made, target.attr):
                    found.append((file, kind, node, target.attr))
    return found if len(found) <= 2 else []


def _is_learned(file: CrashFrame, value: ast.expr) -> bool:
    return called(value) == "Parameter" or bool(re.match(r"(?:torch\.)?nn\.[A-Z]\w+\(", file.text(value)))


def _is_computed(value: ast.expr, learned: set[str]) -> bool:
    """Whether a value is computed from parameters, rather than made with one, or from its size."""
    if isinstance(value, ast.Call) and called(value)[:1].isupper() or is_method_call(value, "parameters", *_CUTS):
        return False
    if isinstance(value, ast.Attribute) and value.attr in ("shape", "data", "device", "dtype"):
        return False
    if is_dotted(value, "self"):
        return False
    for part in ast.iter_child_nodes(value):
        if isinstance(part, ast.expr):
            inner = part.value if is_dotted(part) and part.attr in ("weight", "bias") else part
            if is_dotted(inner, "self") and inner.attr in learned or _is_computed(part, learned):
                return True
    return False


def _is_off(file: CrashFrame, node: ast.AST) -> bool:
    trail = edits.path_to(file.tree, node)
    return any(
        "no_grad" in file.text(item.context_expr) for part in trail if isinstance(part, ast.With) for item in part.items
    )


def _is_read(kind: ast.ClassDef, made: ast.AST | None, name: str) -> bool:
    return any(_reads(method, name) for method in kind.body if method is not made)


def _reads(tree: ast.AST, name: str) -> bool:
    return any(part.attr == name and is_dotted(part, "self") and loads(part) for part in nodes_in(tree, ast.Attribute))


def _once_here(case: Case) -> Iterator[Related]:
    for file, _, node, name in _computed_once(case):
        yield note(file.source, node, "error.computed_once", name=name)


def _each_time(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.adj = …`` in the constructor → at the beginning of the method that reads it."""
    for file, kind, node, name in _computed_once(case):
        own = {part.id for part in nodes_in(node.value, ast.Name)} & _given(kind)
        methods = [
            part
            for part in kind.body
            if isinstance(part, ast.FunctionDef) and part.name != "__init__" and _reads(part, name)
        ]
        text, source = file.text(node), file.source
        if own or len(methods) != 1 or len(node.targets) != 1 or isinstance(node.targets[0], ast.Tuple):
            continue
        first = next(
            (part for part in methods[0].body if not isinstance(getattr(part, "value", None), ast.Constant)), None
        )
        if first is not None and node.lineno == node.end_lineno:
            cut = Edit(source.path, Position(node.lineno, 1), Position(node.lineno + 1, 1), "")
            changes = (cut, edits.insert_line_before(source, first, text))
            yield Fix(message("fix.each_time", name=f"self.{name}", method=methods[0].name), changes, safe=False)


def _given(kind: ast.ClassDef) -> set[str]:
    """The names of the constructor that other methods do not have."""
    made = next((part for part in kind.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
    if made is None:
        return set()
    stored = {part.id for part in nodes_in(made, ast.Name) if isinstance(part.ctx, ast.Store)}
    return (names_in(made) & ({part.arg for part in nodes_in(made, ast.arg)} | stored)) - {"self"}


_AGAIN = r"backward through the graph a second time"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_AGAIN, _each_time),)
PLACES = ((_AGAIN, _once_here),)

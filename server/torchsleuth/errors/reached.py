"""The way of a value where no call shows it: keys of dictionaries, names of another function or file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.origin import binding, followed_operands
from torchsleuth.messages import message
from torchsleuth.schema import Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_text, loads, nodes_in, parts_of_tuple, plain_name, returned_by
from torchsleuth.syntax.text import SourceText

Function = ast.FunctionDef | ast.AsyncFunctionDef
Filled = tuple[CrashFrame, ast.expr]
"""A value, and the file that it stands in."""
MAX_FILLED = 3
"""Places that fill one key, beyond which none of them is the one that is meant."""


def note(source: SourceText, node: ast.AST, identifier: str, **values: object) -> Related:
    span = source.span(node)
    return Related(span.path, span.start, span.end, message(identifier, **values))


def around(tree: ast.AST, node: ast.AST) -> ast.AST:
    """The function around a node, else the whole tree."""
    return next((part for part in reversed(edits.path_to(tree, node)[:-1]) if isinstance(part, Function)), tree)


def bound(file: CrashFrame, node: ast.expr) -> ast.expr:
    """The expression that the nearest assignment above gives a name; all else is itself."""
    for _ in range(3):
        if not isinstance(node, ast.Name):
            return node
        found = binding(around(file.tree, node), node.id, node.lineno)
        if found is None or found[1] is None or found[1].lineno > node.lineno or _takes_apart(found[0], found[1]):
            return node
        node = found[1]
    return node


def _takes_apart(statement: ast.AST, value: ast.expr) -> bool:
    """``mean, scale = both.chunk(2)``: none of the names is what stands on the right."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Tuple | ast.List) for target in targets) and value is getattr(
        statement, "value", 0
    )


def keys_of(case: Case) -> list[str]:
    """The keys that the failing expression reads, or that its operands were taken out of a whole by: ``act`` of ``data["act"]``."""
    read = [part for part in nodes_in(case.frame.node, ast.Subscript)] if case.frame.node is not None else []
    for _, _, place in followed_operands(case):
        value: ast.AST | None = getattr(place, "value", place) if isinstance(place, ast.stmt) else place
        while isinstance(value, ast.Subscript | ast.Attribute | ast.Call):
            if isinstance(value, ast.Subscript):
                read.append(value)
            value = value.func if isinstance(value, ast.Call) else value.value
    return list(dict.fromkeys(part.slice.value for part in read if is_text(part.slice) and loads(part)))[:2]


def under_key(case: Case, key: str) -> list[Filled]:
    """The values that the user's files put under a key of a dictionary, but for those that are only passed on."""
    found: list[Filled] = []
    for file in case.files:
        for value in _filled(file.tree, key):
            reads = [part for part in nodes_in(value, ast.Subscript) if getattr(part.slice, "value", None) == key]
            if not reads:
                found.append((file, value))
    return found if len(found) <= MAX_FILLED else []


def _filled(tree: ast.Module, key: str) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Dict():
                yield from (value for name, value in zip(node.keys, node.values) if getattr(name, "value", 0) == key)
            case ast.Call(func=ast.Name(id="dict")):
                yield from (part.value for part in node.keywords if part.arg == key)
            case ast.Assign():
                places = of_kind(node.targets, ast.Subscript)
                yield from (node.value for place in places if getattr(place.slice, "value", 0) == key)


def filled_here(case: Case) -> Iterator[Related]:
    """Where what the failing expression reads by its key was put under it, and what gave that value."""
    for key in keys_of(case):
        for file, value in under_key(case, key):
            yield note(file.source, value, "error.under_key", key=key)
            if (made := bound(file, value)) is not value:
                yield note(file.source, made, "error.under_key", key=key)


def given_by_model(case: Case, given: ast.expr | None) -> Filled | None:
    """The expression in a model's ``forward`` that an argument comes from which is one of several results of a model."""
    name = plain_name(given)
    for node in nodes_in(case.frame.enclosing, ast.Assign) if name is not None else ():
        parts = parts_of_tuple(node.targets[0])
        place = next((index for index, part in enumerate(parts) if plain_name(part) == name), None)
        if place is None or not isinstance(node.value, ast.Call) or node.lineno >= case.frame.line:
            continue
        results = [
            (file, parts_of_tuple(value)[place])
            for file in case.files
            for kind in file.all(ast.ClassDef)
            for method in nodes_in(kind, ast.FunctionDef)
            if method.name == "forward"
            for value in returned_by(method)
            if len(parts_of_tuple(value)) == len(parts) > 1
        ]
        if len(results) == 1:
            file, value = results[0]
            return file, bound(file, value)
    return None

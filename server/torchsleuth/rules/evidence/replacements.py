"""Shared by the rules about removed and deprecated functions: a table of old names, and how calls of them are rewritten."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import calls, renamed, text
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.schema import Edit, Severity
from torchsleuth.syntax import edits
from torchsleuth.syntax.names import Imported, Use

Rewrite = Callable[[Analysis, Use, ast.Call], Iterator[Candidate]]


@dataclass(frozen=True)
class Old:
    """`instead`: what takes its place, as it is written in a message. `moved`: the path of a function that takes the same
    arguments. `rewrite`: for one that takes others."""

    instead: str
    moved: str | None = None
    rewrite: Rewrite | None = None
    severity: Severity | None = None
    safe: bool = True


def outdated_uses(analysis: Analysis, table: Mapping[str, Old], key: str) -> Iterator[Finding]:
    """A finding for each call of a function in the table; one that is written for another version is a hint."""
    for use, call in calls(analysis, *table):
        old = table[use.path]
        severity: Severity | None = "hint" if use.guarded else old.severity
        rewritten = old.rewrite(analysis, use, call) if old.rewrite is not None else ()
        candidates = chain(rewritten, renames(analysis, use, old) if old.moved is not None else ())
        span = analysis.source.span(call)
        yield Finding(span, message(key, old=use.path, new=old.instead), (), candidates, severity)


def outdated_imports(
    analysis: Analysis, table: Mapping[str, Old], key: str, severity: Severity | None = None
) -> Iterator[Finding]:
    """A finding for each import of such functions by name."""
    statements: dict[ast.ImportFrom, list[Imported]] = {}
    for imported in analysis.names.imports:
        if imported.path in table and isinstance(imported.statement, ast.ImportFrom):
            statements.setdefault(imported.statement, []).append(imported)
    for statement, names in statements.items():
        old = ", ".join(imported.path for imported in names)
        new = ", ".join(dict.fromkeys(table[imported.path].instead for imported in names))
        guarded = any(imported.guarded for imported in names)
        candidates = _moved(analysis, statement, names, table)
        weight: Severity | None = "hint" if guarded else severity
        yield Finding(analysis.source.span(statement), message(key, old=old, new=new), (), candidates, weight)


def renames(analysis: Analysis, use: Use, old: Old) -> Iterator[Candidate]:
    assert old.moved is not None
    if isinstance(use.imported.statement, ast.ImportFrom) and use.imported.path == use.path:
        table = {use.path: old}
        yield from _moved(analysis, use.imported.statement, [use.imported], table)
        return
    title = message("fix.replace", old=text(analysis, use.node), new=old.moved)
    yield Candidate(title, renamed(analysis, use, old.moved), old.safe)


def _moved(
    analysis: Analysis, statement: ast.ImportFrom, names: list[Imported], table: Mapping[str, Old]
) -> Iterator[Candidate]:
    """The import from where the functions are now, and every use under its new name."""
    new = [table[imported.path].moved for imported in names]
    modules = {path.rpartition(".")[0] for path in new if path is not None}
    if None in new or len(modules) != 1:
        return
    source, module = analysis.source, modules.pop()
    kept = [alias for alias in statement.names if all(alias is not imported.alias for imported in names)]
    line = f"from {module} import {', '.join(_alias(imported, path) for imported, path in zip(names, new) if path)}"
    changed: list[Edit] = []
    if module == "builtins":
        # What needs no import.
        if kept or any(imported.alias.asname for imported in names):
            return
        line = ", ".join(path.rpartition(".")[2] for path in new if path)
        changed.append(edits.remove_line(source, statement.lineno))
    elif kept:
        rest = ", ".join(text(analysis, alias) for alias in kept)
        first = f"from {'.' * statement.level}{statement.module or ''} import {rest}"
        indent = edits.next_line(source, statement.lineno)
        changed.append(edits.replace(source, statement, f"{first}{indent}{line}"))
    else:
        changed.append(edits.replace(source, statement, line))
    for use in analysis.names.uses:
        for imported, path in zip(names, new):
            if use.imported is imported and path is not None and imported.alias.asname is None:
                name = path.rpartition(".")[2]
                if name != imported.name and isinstance(use.node, ast.Name):
                    changed.append(edits.replace(source, use.node, name))
    title = message("fix.replace", old=text(analysis, statement), new=line)
    yield Candidate(title, tuple(changed), all(table[imported.path].safe for imported in names))


def _alias(imported: Imported, path: str) -> str:
    name = path.rpartition(".")[2]
    return f"{name} as {imported.alias.asname}" if imported.alias.asname else name


def replaced(
    analysis: Analysis, node: ast.expr, new: str, imported: tuple[Edit, ...] = (), safe: bool = True
) -> Candidate:
    """An expression written anew."""
    old = " ".join(text(analysis, node).split())
    title = message("fix.replace", old=old, new=" ".join(new.split()))
    return Candidate(title, (*imported, edits.replace(analysis.source, node, new)), safe)

"""Shared by the rules about library functions: uses by name, arguments as written, renamed calls with their imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchsleuth.rules.rule import Analysis
from torchsleuth.schema import Edit, Position, Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_spread
from torchsleuth.syntax.names import Imported, Use
from torchsleuth.syntax.text import SourceText


def calls(analysis: Analysis, *paths: str) -> Iterator[tuple[Use, ast.Call]]:
    """The document's calls of these functions, by any name they were imported under."""
    for use in analysis.names.uses:
        if use.call is not None and use.path in paths:
            yield use, use.call


def subclasses(analysis: Analysis, is_base: Callable[[str], bool]) -> Iterator[tuple[ast.ClassDef, str]]:
    """The document's classes that derive directly from a class of a library, with the path of that one."""
    bases = {id(use.node): use.path for use in analysis.names.uses if is_base(use.path)}
    for owner in analysis.index(analysis.source.path).of_type(ast.ClassDef) if bases else ():
        yield from ((owner, bases[id(base)]) for base in owner.bases if id(base) in bases)


def name_span(source: SourceText, function: ast.FunctionDef) -> Span:
    """The name of a function, where it is defined."""
    start = source.start_of(function)
    begin = Position(start.line, start.column + len("def "))
    return Span(source.path, begin, Position(begin.line, begin.column + len(function.name)))


def imports(analysis: Analysis, *paths: str) -> Iterator[Imported]:
    """The document's ``from … import …`` of these names."""
    for imported in analysis.names.imports:
        if imported.path in paths and isinstance(imported.statement, ast.ImportFrom):
            yield imported


def is_exact(call: ast.Call) -> bool:
    """Whether all arguments are written out."""
    return not is_spread(call.args) and all(part.arg for part in call.keywords)


def written(analysis: Analysis, path: str, use: Use | None = None) -> tuple[str, tuple[Edit, ...]]:
    """How to write a library name in the document, through a package that it imports, and the import it needs if none.

    `use`: where a name of the same package is written; what that one was found through serves as well.
    """
    if use is not None and path.startswith(f"{use.imported.path}."):
        return f"{use.imported.name}{path.removeprefix(use.imported.path)}", ()
    package, _, rest = path.rpartition(".")
    attributes = rest
    while package:
        name = analysis.names.bound_to(package)
        if name is not None:
            return f"{name}.{attributes}", ()
        package, _, last = package.rpartition(".")
        attributes = f"{last}.{attributes}"
    top = path.partition(".")[0]
    return path, edits.add_import(analysis.source, analysis.tree(analysis.source.path), f"import {top}")


def renamed(analysis: Analysis, use: Use, path: str) -> tuple[Edit, ...]:
    """The same expression with another function's name."""
    name, imported = written(analysis, path, use)
    return (*imported, edits.replace(analysis.source, use.node, name))


def text(analysis: Analysis, node: ast.AST) -> str:
    return analysis.source.segment(node)


def operand(analysis: Analysis, node: ast.expr, source: SourceText | None = None) -> str:
    """An expression as it can stand before a dot or beside a sign. `source`: the file that it is in, if not the document."""
    inner = text(analysis, node) if source is None else source.segment(node)
    return (
        inner if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant) else f"({inner})"
    )

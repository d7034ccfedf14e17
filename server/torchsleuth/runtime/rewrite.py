"""Rewrites the user's source so that every call and binary operation reports the tensor it makes.

Locations are copied, so tracebacks and their carets stay those of the file. Only the script and the modules of its
project are rewritten; functions that another compiler reads (torch.jit.script, triton, torch.compile) are left alone.
"""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import Any

RECORDER = "_torchsleuth_record"
_COMPILERS = ("jit", "triton", "compile", "numba")


@dataclass(frozen=True)
class RecordedSite:
    """One rewritten expression: its span as `ast` counts (1-based line, 0-based UTF-8 column) and what it binds."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    binding: tuple[str, int, int, int, int] | None = None


class Rewriter(ast.NodeTransformer):
    """Wraps calls and binary operations of one file; `sites` grows by one entry for each."""

    def __init__(self, path: str, sites: list[RecordedSite]) -> None:
        self.path = path
        self.sites = sites
        self._bindings: dict[int, tuple[str, int, int, int, int]] = {}

    def _wrap(self, node: Any) -> ast.expr:
        binding = self._bindings.pop(id(node), None)
        self.generic_visit(node)
        return self._recorded(node, node, binding)

    def _recorded(self, node: ast.expr, at: Any, binding: tuple[str, int, int, int, int] | None) -> ast.expr:
        self.sites.append(RecordedSite(self.path, at.lineno, at.col_offset, at.end_lineno, at.end_col_offset, binding))
        name = ast.copy_location(ast.Name(RECORDER, ast.Load()), at)
        number = ast.copy_location(ast.Constant(len(self.sites) - 1), at)
        return ast.copy_location(ast.Call(name, [number, node], []), at)

    visit_Call = visit_BinOp = _wrap

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name | ast.Attribute):
            target = node.targets[0]
            self._bindings[id(node.value)] = (
                ast.unparse(target),
                target.lineno,
                target.col_offset,
                target.end_lineno or target.lineno,
                target.end_col_offset or target.col_offset,
            )
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        names = [part for part in ast.walk(node.target) if isinstance(part, ast.Name)]
        reports: list[ast.stmt] = []
        for name in names:
            load = ast.copy_location(ast.Name(name.id, ast.Load()), name)
            span = (name.id, name.lineno, name.col_offset, name.end_lineno or 0, name.end_col_offset or 0)
            reports.append(ast.copy_location(ast.Expr(self._recorded(load, name, span)), name))
        node.body[:0] = reports
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def _function(self, node: Any) -> ast.AST:
        text = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
        if any(word in text for word in _COMPILERS):
            return node  # type: ignore[no-any-return]
        node.body = [self.visit(statement) for statement in node.body]
        return node  # type: ignore[no-any-return]

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.body = [self.visit(statement) for statement in case.body]
        return node


def rewrite(source: bytes | str, path: str, sites: list[RecordedSite]) -> Any:
    """The code object of a file with recording. Raises SyntaxError as compiling the file itself does."""
    tree = ast.parse(source, path)
    try:
        tree = Rewriter(path, sites).visit(tree)
        return compile(tree, path, "exec", dont_inherit=True)
    except RecursionError:
        return compile(source, path, "exec", dont_inherit=True)


def belongs(path: str | None, root: str) -> bool:
    """Whether a module is the user's own: below the script's folder, and not an installed package."""
    if not path or not path.endswith(".py"):
        return False
    absolute = os.path.realpath(path)
    inside = absolute.startswith(os.path.join(os.path.realpath(root), ""))
    return inside and "site-packages" not in absolute and f"{os.sep}.venv{os.sep}" not in absolute

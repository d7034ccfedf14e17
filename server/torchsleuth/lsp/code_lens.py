"""Code lens: "Run and Diagnose" above the main guard, or at the top of a script without one."""

from __future__ import annotations

import ast

from lsprotocol import types

from torchsleuth.lsp.protocol import CLIENT_RUN
from torchsleuth.lsp.session import Session
from torchsleuth.syntax.parse import parse

TITLE = "▶ Run and Diagnose"


def code_lenses(session: Session, params: types.CodeLensParams) -> list[types.CodeLens]:
    snapshot = session.documents.get(params.text_document.uri)
    if snapshot is None:
        return []
    line = script_line(parse(snapshot.source))
    if line is None:
        return []
    where = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
    return [types.CodeLens(where, types.Command(TITLE, CLIENT_RUN, arguments=[snapshot.uri]))]


def script_line(tree: ast.Module) -> int | None:
    """The 1-based line of the lens, None for a file that is no script with torch."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and _is_main_guard(statement.test):
            return statement.lineno
    imports = any(_imports_torch(statement) for statement in tree.body)
    return 1 if imports and any(_does_something(statement) for statement in tree.body) else None


def _is_main_guard(test: ast.expr) -> bool:
    return "__name__" in ast.unparse(test) and "__main__" in ast.unparse(test)


def _imports_torch(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        return any(alias.name.partition(".")[0] == "torch" for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] == "torch"


def _does_something(statement: ast.stmt) -> bool:
    call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return call or isinstance(statement, ast.For | ast.While | ast.With)

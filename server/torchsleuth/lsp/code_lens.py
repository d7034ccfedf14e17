"""Code lenses: "Run and Diagnose" above the main guard, or at the top of a script without one, and contracts."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from torchsleuth.lsp import protocol
from torchsleuth.lsp.documents import Document, Documents
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.messages import message
from torchsleuth.syntax.forms import is_literal, is_name, names_in, nodes_in, plain_name
from torchsleuth.syntax.parse import parse

_IMPORTS_TORCH = re.compile(r"^[ \t]*(?:import|from)[ \t]+torch\w*\b", re.MULTILINE)


def register(server: TorchSleuthServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = server.documents.get(params.text_document.uri)
        if document is None or not server.settings.trusted:
            return []
        lenses = list(contract_lenses(server, document))
        line = run_line(document, server.documents) if document.uri.startswith("file:") else None
        if line is not None:
            start = types.Position(line - 1, 0)
            run = server.settings.run_command or protocol.RUN_AND_DIAGNOSE
            command = types.Command(message("editor.lens.run"), run, arguments=[document.uri])
            lenses.insert(0, types.CodeLens(types.Range(start, start), command))
        return lenses


def contract_lenses(server: TorchSleuthServer, document: Document) -> Iterator[types.CodeLens]:
    """Each contract that is known, above its class or function, where the user wants that. It has no command: it is read."""
    if not server.settings_of(document.path).contract_lenses:
        return
    for definition, contract in server.analysis.contracts.of(document):
        if contract.told:
            kind = "conditions" if contract.conditions else "contract"
            conditions = contract.brief(", ".join(contract.conditions))
            title = message(f"editor.lens.{kind}", contract=contract.short(), conditions=conditions)
            start = types.Position(definition.first - 1, 0)
            yield types.CodeLens(types.Range(start, start), types.Command(title, ""))


def run_line(document: Document, documents: Documents) -> int | None:
    """The 1-based line that the lens belongs to; None for a module that is not run, or that has no torch in it."""
    tree = parse(document.source)
    imports = [name for node in ast.walk(tree) for name in _imported(node)]
    if not any(_is_torch(name) or _module_uses_torch(name, document, documents) for name in imports):
        return None
    guard = next((node for node in tree.body if _is_main_guard(node)), None)
    if guard is not None:
        return guard.lineno
    return 1 if _does_something(tree) else None


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            return [node.module or ""]
    return []


def _is_torch(module: str) -> bool:
    """torch itself and what is built around it (torchvision, torchaudio …)."""
    return module.split(".")[0].startswith("torch")


def _module_uses_torch(name: str, document: Document, documents: Documents) -> bool:
    """Whether a module that lies beside the script imports torch: the script trains what is defined there."""
    if not name:
        return False
    base = Path(document.path).parent.joinpath(*name.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if documents.at(str(candidate)) is not None or os.path.isfile(candidate):
            return _IMPORTS_TORCH.search(documents.source(str(candidate)).text) is not None
    return False


def _is_main_guard(node: ast.stmt) -> bool:
    """``if __name__ == "__main__":``, either way round."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare) or len(node.test.comparators) != 1:
        return False
    sides = (node.test.left, node.test.comparators[0])
    return (
        isinstance(node.test.ops[0], ast.Eq)
        and any(is_name(side, "__name__") for side in sides)
        and any(is_literal(side, "__main__") for side in sides)
    )


def _does_something(tree: ast.Module) -> bool:
    """Whether running the module does more than define: a loop or a bare call at the top level, or a call of something
    that the module itself made there."""
    made: set[str] = set()
    for node in tree.body:
        match node:
            case ast.For() | ast.While() | ast.With():
                return True
            case ast.Expr() if isinstance(node.value, ast.Call):
                return True
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                made.add(node.name)
            case ast.Assign() if node.value is not None:
                if any(_root(part.func) in made for part in nodes_in(node.value, ast.Call)):
                    return True
                made |= names_in(*node.targets)
    return False


def _root(callee: ast.expr) -> str | None:
    while isinstance(callee, ast.Attribute):
        callee = callee.value
    return plain_name(callee)

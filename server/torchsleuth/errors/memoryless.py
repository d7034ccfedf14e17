"""Tensors that were left on the meta device: what a state that is loaded does not hold has no numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import remove_keyword, replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Json, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    is_dotted,
    is_literal,
    is_method_call,
    is_name,
    is_text,
    keyword_of,
    nodes_in,
    stands_on,
)


def _on_meta(case: Case) -> list[tuple[ast.expr, Json]]:
    """The operands that have no memory, where another one has."""
    found = case.frame.tensor_operands() or list(case.frame.tensors())
    meta = [(node, tensor) for node, tensor in found if tensor["device"] == "meta"]
    return meta if any(tensor["device"] != "meta" for _, tensor in found) else []


def _contexts(case: Case) -> list[tuple[CrashFrame, ast.expr]]:
    """Where modules are made without memory: ``with torch.device("meta"):``, ``with init_empty_weights():``"""
    return [
        (file, item.context_expr)
        for file in case.files
        for block in file.all(ast.With)
        for item in block.items
        if isinstance(item.context_expr, ast.Call)
        and (
            called(item.context_expr) in ("init_empty_weights", "no_init_weights")
            or called(item.context_expr) == "device"
            and any(is_literal(part, "meta") for part in item.context_expr.args)
        )
    ]


def _left(case: Case) -> list[tuple[CrashFrame, ast.Call | ast.Assign, ast.ClassDef]]:
    """The tensors of the failing module that no state holds: buffers that are not persistent, and plain attributes."""
    names = {
        part.attr
        for operand, _ in _on_meta(case)
        for _, part in made_from(case, case.frame, operand)
        if isinstance(part, ast.Attribute) and is_name(part.value, "self")
    }
    found: list[tuple[CrashFrame, ast.Call | ast.Assign, ast.ClassDef]] = []
    for kind in case.frame.all(ast.ClassDef):
        if not stands_on(kind, case.frame.line):
            continue
        for node in nodes_in(kind, ast.Call):
            if is_method_call(node, "register_buffer"):
                name, kept = argument_of(node, 0, "name"), argument_of(node, 2, "persistent")
                if is_literal(kept, False) and (not is_text(name) or name.value in names):
                    found.append((case.frame, node, kind))
        for statement in nodes_in(kind, ast.Assign):
            for target, value in assigned_pairs(statement):
                if is_dotted(target, "self") and target.attr in names and not _is_saved(value):
                    found.append((case.frame, statement, kind))
    return found[:3]


def _is_saved(value: ast.expr) -> bool:
    return called(value) == "Parameter" or not re.match(
        r"(?:torch\.)?(?:zeros|ones|empty|full|arange|linspace|tensor|randn?|hann_window|eye|tril|triu|cat|stack|sin|cos|exp|log)\b",
        ast.unparse(value),
    )


def _left_here(case: Case) -> Iterator[Related]:
    if _on_meta(case) and _contexts(case):
        for file, node, _ in _left(case):
            yield note(file.source, node, "error.not_in_state")
        for file, context in _contexts(case)[:1]:
            yield note(file.source, context, "error.made_on_meta")


def _in_state(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``register_buffer("cos", table, persistent=False)`` → without the last one: it is saved with the weights, and loaded with them."""
    if not (_on_meta(case) and _contexts(case)):
        return
    for file, node, _ in _left(case):
        if isinstance(node, ast.Call) and keyword_of(node, "persistent") is not None:
            yield from remove_keyword(file.source, node, "persistent")
        elif isinstance(node, ast.Call) and len(node.args) == 3:
            yield Fix(
                message("fix.remove_argument", argument=file.text(node.args[2])),
                (edits.remove_element(file.source, node.args, 2),),
            )
        elif isinstance(node, ast.Assign) and is_dotted(node.targets[0], "self"):
            target = node.targets[0]
            assert isinstance(target, ast.Attribute)
            new = f'self.register_buffer("{target.attr}", {file.text(node.value)})'
            yield replace(file, node, new, safe=False)


def _loads(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    return [
        (file, node)
        for file in case.files
        for node in file.all(ast.Call)
        if is_method_call(node, "load_state_dict") and keyword_of(node, "assign") is None
        if not re.search(r"opt|sched", file.text(node.func))
    ]


def _assigned(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``model.load_state_dict(state)`` → ``…, assign=True)``, where the model was made without memory to copy into."""
    loads = _loads(case) if _contexts(case) else []
    changes: list[Edit] = [edits.add_argument(file.source, node, "assign=True") for file, node in loads]
    if len(loads) == 1:
        yield Fix(message("fix.add_argument", argument="assign=True"), tuple(changes))


def _loaded_here(case: Case) -> Iterator[Related]:
    if _contexts(case):
        for file, node in _loads(case)[:1]:
            yield note(file.source, node, "error.copied_into_nothing")


_META = r"\bmeta\b|on the same device|expected device"

ENTRIES = (
    entry(
        "TS201",
        r"device",
        "error.left_on_meta",
        applies=lambda case: bool(_on_meta(case) and _contexts(case)),
        values=lambda case: {"name": case.frame.source.on_one_line(_on_meta(case)[0][0])[:40]},
    ),
)
BUILDERS: tuple[tuple[str, Builder], ...] = ((_META, _in_state), (_META, _assigned))
PLACES = ((_META, _left_here), (_META, _loaded_here))

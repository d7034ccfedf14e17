"""shared-memory-changed: a tensor made by from_numpy() is changed in place, and the array below it is read as it was.

What it finds
    `x = torch.from_numpy(a)`, then `x -= x.mean()`, `x.div_(x.std())` or the like, and behind that `a` in the computation of other
    values, of which an array or a tensor is made.
Why it hurts
    Both have one memory: what is computed from the array is computed from numbers that are centred and scaled already. Nothing is
    raised.
Example
    x = torch.from_numpy(features)
    x -= x.mean(dim=0)
    target = features[:, 0] / features[:, 1] ** 2
Use instead
    x = torch.from_numpy(features.copy())
    x -= x.mean(dim=0)
    target = features[:, 0] / features[:, 1] ** 2
Fix safety
    Safe: the tensor gets a memory of its own.
References
    torch.from_numpy
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, appended
from torchsleuth.syntax.forms import given_to, is_method_call, is_name, loads, names_in, nodes_in, plain_name, stored_in

CODE = "TS661"
_IN_PLACE = ("sub_", "div_", "mul_", "add_")


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    made = [one.call for one in analysis.names.uses if one.path == "torch.from_numpy" and one.call is not None]
    for block in _blocks(analysis.tree(source.path)) if made else ():
        for position, statement in enumerate(block):
            if not isinstance(statement, ast.Assign) or statement.value not in made or len(statement.targets) != 1:
                continue
            call, tensor = statement.value, plain_name(statement.targets[0])
            array = plain_name(call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else None
            behind = block[position + 1 :]
            change = next((one for one in behind if tensor is not None and _changes(one, tensor)), None)
            read = _read(behind, change, array) if change is not None and array is not None else None
            if change is not None and read is not None and isinstance(call, ast.Call):
                place = source.span(read).related(message("shared.read"))
                fix = appended(source, call.args[0], ".copy()")
                yield Finding(source.span(change), message("shared.changed", array=array), (place,), (fix,))


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The statements that follow one another, outermost first."""
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and len(block) > 1:
                yield block


def _changes(statement: ast.stmt, tensor: str) -> bool:
    """Whether a statement changes a tensor in place by its own numbers, as what centres and scales it does."""
    if isinstance(statement, ast.AugAssign):
        return is_name(statement.target, tensor) and tensor in names_in(statement.value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    changes = is_method_call(call, *_IN_PLACE) and is_name(call.func.value, tensor)
    return changes and call is not None and any(tensor in names_in(one) for one in given_to(call))


def _read(behind: list[ast.stmt], change: ast.stmt, array: str) -> ast.expr | None:
    """Where an array is computed with, behind a change, before it is bound anew."""
    for one in behind[behind.index(change) + 1 :]:
        computed = one.value if isinstance(one, ast.Assign) else None
        if isinstance(computed, ast.BinOp) and array in names_in(computed):
            parts = [part for part in nodes_in(computed, ast.Name) if part.id == array and loads(part)]
            shapes = [
                part.value for part in nodes_in(computed, ast.Attribute) if part.attr in ("shape", "size", "ndim")
            ]
            return next((part for part in parts if part not in shapes), None)
        if array in stored_in(one):
            return None
    return None


RULE = Rule(FAULTS[CODE], find)

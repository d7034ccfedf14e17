"""Repairs of tensors whose dimensions stand in another order: a permutation that was forgotten where the one back is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import Operand
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_display, nodes_in
from torchsleuth.tensors.dims import is_index, is_number


def permuted_before(analysis: Analysis, used: Operand, order: tuple[int, ...]) -> Iterator[Candidate]:
    """``x = x.permute(0, 2, 3, 1)`` in front of a use, where the function has the permutation back behind it."""
    function, node = used.site.scene.function, as_kind(used.node, ast.Name)
    if function is None or node is None:
        return
    back = tuple(order.index(axis) for axis in range(len(order)))
    behind = (part for part in nodes_in(function.node, ast.Call) if part.lineno > node.lineno)
    statement = edits.enclosing_statement(analysis.tree(used.site.span.path), used.site.node)
    if statement is not None and any(_turns(part, back) for part in behind):
        turn = ".transpose(1, 2)" if order == (0, 2, 1) else f".permute{order}"
        line = f"{node.id} = {node.id}{turn}"
        edit = edits.insert_line_before(used.site.source, statement, line)
        yield Candidate(message("fix.insert", text=line), (edit,))


def _turns(call: ast.Call, order: tuple[int, ...]) -> bool:
    """Whether a call brings the dimensions into an order."""
    if not is_attribute(call.func, "permute", "transpose"):
        return False
    places = call.args[0].elts if call.args and is_display(call.args[0]) else call.args
    try:
        given = tuple(ast.literal_eval(part) for part in places)
    except (ValueError, SyntaxError):
        return False
    if call.func.attr == "permute":
        return given == order
    exchanged = list(range(len(order)))
    if len(given) != 2 or not all(is_number(axis) and is_index(axis, order) for axis in given):
        return False
    exchanged[given[0]], exchanged[given[1]] = exchanged[given[1]], exchanged[given[0]]
    return tuple(exchanged) == order

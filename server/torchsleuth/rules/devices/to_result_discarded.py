"""to-result-discarded: a tensor is moved or converted, and the result is thrown away.

What it finds
    A statement such as `x.to(device)`, `x.cuda()` or `x.float()` on a tensor whose device or dtype it would change, or
    `x.unsqueeze(0)` or `x.detach()`.
Why it hurts
    Unlike a module, a tensor is not changed in place: `x` stays where it was, and the next operator fails.
Example
    x.to(device)
Use instead
    x = x.to(device)
Fix safety
    Safe: it assigns the result to the name that was meant.
References
    torch.Tensor.to
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    bindings_of,
    is_binding,
    is_method_call,
    is_name,
    loads,
    nodes_in,
    parts_of_tuple,
)
from torchsleuth.syntax.notebooks import ends_cell, is_notebook

CODE = "TS202"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int]] = set()
    for site in analysis.trace.discarded:
        call = site.node
        key = (site.span.path, site.span.start.line)
        if key in seen or not is_method_call(call):
            continue
        seen.add(key)
        source = site.source
        if is_notebook(source.path) and call.col_offset == 0 and ends_cell(source.text, call.end_lineno or call.lineno):
            continue  # It is shown there.
        name, written = source.segment(call.func.value), source.segment(call)
        edit = edits.insert(source, source.start_of(call), f"{name} = ")
        fix = Candidate(message("fix.assign", call=written, tensor=name), (edit,))
        yield Finding(site.span, message("to.discarded", call=written, tensor=f"`{name}`"), (), (fix,))
    for call, name in _of_batches(analysis):
        source = analysis.source
        if (source.path, call.lineno) not in seen:
            written = source.segment(call)
            edit = edits.insert(source, source.start_of(call), f"{name} = ")
            fix = Candidate(message("fix.assign", call=written, tensor=name), (edit,))
            text = message("to.discarded", call=written, tensor=f"`{name}`")
            yield Finding(source.span(call), text, (), (fix,), severity="warning")


def _of_batches(analysis: Analysis) -> Iterator[tuple[ast.expr, str]]:
    """``x.to(device)`` in a loop over batches whose other part is assigned: ``y = y.to(device)``."""
    for loop in analysis.index(analysis.source.path).of_type(ast.For):
        parts = {part.id for part in of_kind(parts_of_tuple(loop.target), ast.Name)}
        moved = {
            statement.targets[0].id
            for statement in nodes_in(loop, ast.Assign)
            if is_binding(statement, *parts) and _moves(statement.value, *parts)
        }
        for statement in nodes_in(loop, ast.Expr):
            for name in parts - moved if moved else ():
                if _moves(statement.value, name) and _is_only_given(name, loop):
                    yield statement.value, name


def _is_only_given(name: str, loop: ast.For) -> bool:
    """Whether all that a loop does with a part of the batch is to give it to functions: what has entries may move in place."""
    given = [part for call in nodes_in(loop, ast.Call) for part in call.args if is_name(part, name)]
    read = [part for part in nodes_in(loop, ast.Name) if part.id == name and loads(part)]
    return len(bindings_of(name, loop)) == 1 and len(given) == len(read) - 1 > 0


def _moves(node: ast.expr, *names: str) -> bool:
    """``x.to(device)`` of one of these names."""
    return is_method_call(node, "to", "cuda") and is_name(node.func.value, *names)


RULE = Rule(FAULTS[CODE], find)

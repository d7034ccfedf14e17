"""target-among-inputs: the column that is to be predicted is one of the inputs.

What it finds
    All the values of a table that was read from a file, and one of its columns as their target, where no column was taken out
    of the table, and both go into one data set, split or loss.
Why it hurts
    The model is given the answer. The loss falls to nothing, in validation as well, and what is measured says nothing about
    samples whose answer is not known. Nothing is raised.
Example
    inputs = torch.tensor(table.values)
    target = torch.tensor(table["price"].values)
    data = TensorDataset(inputs, target)
Use instead
    inputs = torch.tensor(table.drop(columns=["price"]).values)
    target = torch.tensor(table["price"].values)
    data = TensorDataset(inputs, target)
Fix safety
    Safe: the column is left out of the inputs.
References
    pandas.DataFrame.drop
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, appended
from torchsleuth.sifting import of_kind, only
from torchsleuth.syntax.forms import (
    called,
    is_attribute,
    is_binding,
    is_method_call,
    is_name,
    is_text,
    loads,
    names_in,
    nodes_in,
    stored_in,
)

CODE = "TS632"
_REMOVES = frozenset({"drop", "pop", "insert", "set_index"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for scope in analysis.scopes:
        for read in of_kind(scope.body, ast.Assign):
            if is_binding(read) and called(read.value).startswith("read_") and _is_kept(scope, read.targets[0].id):
                yield from _of_table(analysis, scope, read.targets[0].id)


def _is_kept(scope: ast.Module | ast.FunctionDef, table: str) -> bool:
    """Whether a table is bound once and keeps all its columns under their names."""
    stores = [node for node in nodes_in(scope, ast.Name) if node.id == table and not loads(node)]
    removed = (
        is_method_call(call, *_REMOVES) and is_name(call.func.value, table) for call in nodes_in(scope, ast.Call)
    )
    deleted = any(table in names_in(part) for part in nodes_in(scope, ast.Delete))
    return len(stores) == 1 and not deleted and not any(removed)


def _of_table(analysis: Analysis, scope: ast.Module | ast.FunctionDef, table: str) -> Iterator[Finding]:
    source = analysis.source
    bindings = [statement for statement in of_kind(scope.body, ast.Assign) if is_binding(statement)]
    whole = next(((one, values) for one in bindings if (values := _values(one.value, table)) is not None), None)
    column = next(((one, part) for one in bindings if (part := _column(one.value, table)) is not None), None)
    if whole is None or column is None:
        return
    inputs, target = stored_in(whole[0]), stored_in(column[0])
    if any(names_in(call) >= inputs | target for call in nodes_in(scope, ast.Call)):
        name = source.segment(column[1].slice)
        text = message("table.target", column=name, inputs=next(iter(inputs)))
        place = source.span(column[1]).related(message("table.column"))
        fix = appended(source, whole[1].value, f".drop(columns=[{name}])")
        yield Finding(source.span(whole[1]), text, (place,), (fix,))


def _values(value: ast.expr, table: str) -> ast.Attribute | None:
    """``table.values`` and ``table.to_numpy()``: all the columns. None where a part is taken of them."""
    if any(nodes_in(value, ast.Subscript)):
        return None
    found = (node for node in nodes_in(value, ast.Attribute) if is_name(node.value, table))
    return next((node for node in found if is_attribute(node, "values", "to_numpy")), None)


def _column(value: ast.expr, table: str) -> ast.Subscript | None:
    """``table["price"]``"""
    parts = [node for node in nodes_in(value, ast.Subscript) if is_name(node.value, table) and is_text(node.slice)]
    return only(parts)


RULE = Rule(FAULTS[CODE], find)

"""ids-counted: an embedding has as many rows as there are different ids, and the ids are looked up as they are.

What it finds
    `frame["user"].nunique()` or `len(frame["user"].unique())` in a program with an Embedding that makes tensors of `frame["user"]` as it is:
    nothing numbers the values of the column anew.
Why it hurts
    Ids of a table that begin at 1, or of which some are missing, go beyond the number of different ones: IndexError, or on the
    accelerator an assertion that takes the process down.
Example
    users = nn.Embedding(frame["user"].nunique(), 32)
    batch = torch.tensor(frame["user"].values)
Use instead
    users = nn.Embedding(int(frame["user"].max()) + 1, 32)
    batch = torch.tensor(frame["user"].values)
Fix safety
    Safe: there is a row for each id up to the largest.
References
    torch.nn.Embedding, pandas.Series.nunique, pandas.factorize
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import called, is_attribute, is_function_call, is_method_call, is_text
from torchsleuth.syntax.text import SourceText

CODE = "TS641"
_MAKES = frozenset("tensor as_tensor from_numpy LongTensor IntTensor".split())
_AS_IT_IS = ("to_numpy", "astype", "tolist", "to_list")


def find(analysis: Analysis) -> Iterator[Finding]:
    sources = [source for source in analysis.sources if "unique()" in source.text]
    if not sources or not any("Embedding" in source.text for source in analysis.sources):
        return
    for source in sources:
        raw = dict(_looked_up(analysis, source))
        for call in analysis.index(source.path).of_type(ast.Call):
            column = _counted(call)
            name = _name(column)
            if column is None or name not in raw or _is_numbered(analysis, name):
                continue
            text = message("ids.counted", column=name)
            place = source.span(raw[name]).related(message("ids.used"))
            fix = replacement(source, call, f"int({source.segment(column)}.max()) + 1")
            yield Finding(source.span(call), text, (place,), (fix,))


def _counted(call: ast.Call) -> ast.expr | None:
    """The column whose different values a call counts."""
    if is_method_call(call, "nunique") and not call.args and not call.keywords:
        return call.func.value
    inner = call.args[0] if is_function_call(call, "len") and call.args else None
    return inner.func.value if is_method_call(inner, "unique") else None


def _name(column: ast.expr | None) -> str | None:
    """The name of the column of a table that an expression is."""
    if not isinstance(column, ast.Subscript) or not isinstance(column.slice, ast.Constant):
        return None
    return column.slice.value if is_text(column.slice) else None


def _looked_up(analysis: Analysis, source: SourceText) -> Iterator[tuple[str, ast.expr]]:
    """The columns that tensors of integers are made of as they are, and where."""
    for call in analysis.index(source.path).of_type(ast.Call):
        inner: ast.expr | None = call.args[0] if called(call) in _MAKES and call.args else None
        while is_attribute(inner, "values") or is_method_call(inner, *_AS_IT_IS):
            inner = inner.func.value if isinstance(inner, ast.Call) else inner.value
        name = _name(inner)
        if name is not None:
            yield name, call


def _is_numbered(analysis: Analysis, name: str) -> bool:
    """Whether the program writes to a column of this name, renames one to it, or knows the ids by a number."""
    for source in analysis.sources:
        for node in analysis.index(source.path).nodes:
            written = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _name(node) == name
            if written or isinstance(node, ast.keyword) and node.arg == name:
                return True
            if is_method_call(node, "apply", "map", "transform", "fit_transform", "factorize"):
                inside = (*ast.walk(node.func), *(part for one in node.args for part in ast.walk(one)))
                if any(part.value == name for part in of_kind(inside, ast.Constant)):
                    return True
            if isinstance(node, ast.Dict) and any(is_text(value) and value.value == name for value in node.values):
                return True
    return False


RULE = Rule(FAULTS[CODE], find)

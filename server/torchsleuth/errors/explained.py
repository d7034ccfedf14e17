"""The errors that are explained in plain words (`explanations`), with the edits that follow from them in a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchsleuth.errors.case import Case
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.fixes import (
    FixBuilder,
    add_argument,
    append,
    convert_argument,
    convert_receiver,
    no_fix,
    replace,
)
from torchsleuth.explanations import EXPLANATIONS
from torchsleuth.messages import message
from torchsleuth.schema import Fix

_SIZED = ("empty", "ones", "rand", "randn", "zeros")


def _with_argument(text: str) -> FixBuilder:
    def build(case: Case) -> Iterator[Fix]:
        if isinstance(case.frame.node, ast.Call):
            title = message("fix.add_argument", argument=text)
            yield add_argument(case.frame.source, case.frame.node, text, title)

    return build


def _function(name: str) -> FixBuilder:
    """``torch.cat(parts)`` → ``torch.stack(parts)``."""

    def build(case: Case) -> Iterator[Fix]:
        node = case.frame.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield replace(case.frame, node.func, f"{case.frame.text(node.func.value)}.{name}")

    return build


def _any_or_all(case: Case) -> Iterator[Fix]:
    """``if x > 0`` → ``if (x > 0).any()``, or all."""
    node = case.frame.node
    if isinstance(node, ast.Compare | ast.Name | ast.Attribute):
        for suffix in (".any()", ".all()"):
            yield append(case.frame, node, suffix, safe=False)


def _away_from_zero(case: Case) -> Iterator[Fix]:
    """``torch.sqrt(x)`` → ``torch.sqrt(x + 1e-12)``; the same for logarithms."""
    node = case.frame.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    receiver = node.args[0] if node.args else node.func.value
    if node.func.attr in ("sqrt", "rsqrt", "log"):
        text = f"{case.frame.text(receiver)} + 1e-12"
        yield replace(case.frame, receiver, text if node.args else f"({text})")


def _numbers_of_optimizer(case: Case) -> Iterator[Fix]:
    """``lr=lr`` → ``lr=float(lr)`` where it is a text."""
    node = case.frame.node
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if (case.frame.value(keyword.value) or {}).get("type") == "str" or isinstance(
            getattr(keyword.value, "value", None), str
        ):
            yield replace(case.frame, keyword.value, f"float({case.frame.text(keyword.value)})")


def _copied(case: Case) -> Iterator[Fix]:
    """``copy.deepcopy(y)`` → ``copy.deepcopy(y.detach())``; of a module that keeps such a tensor, its state."""
    given = case.frame.argument(0, "x")
    if given is not None:
        is_module = (case.frame.value(given) or {}).get("kind") == "module"
        yield append(case.frame, given, ".state_dict()" if is_module else ".detach()", safe=not is_module)


_FIXES: dict[str, FixBuilder] = {
    "explain.anomaly": _away_from_zero,
    "explain.lengths_sorted": _with_argument("enforce_sorted=False"),
    "explain.lengths_cpu": convert_argument(".cpu()", 1, "lengths"),
    "explain.cat_scalars": _function("stack"),
    "explain.condition": _any_or_all,
    "explain.negative_stride": convert_argument(".copy()", 0),
    "explain.from_numpy": _function("as_tensor"),
    "explain.bfloat16": convert_receiver(".float()"),
    "explain.deepcopy": _copied,
    "explain.multinomial": _with_argument("replacement=True"),
    "explain.no_state": convert_argument(".state_dict()", 0, "state_dict"),
}


def _float_size(case: Case) -> bool:
    values: list[Any] = [case.frame.value(node) for node in case.frame.operands()]
    divided = any(isinstance(getattr(node, "op", None), ast.Div) for node in case.frame.operands())
    return divided or any(value is not None and value.get("type") == "float" for value in values)


def _divided(case: Case) -> Iterator[Fix]:
    """``n / 2`` → ``n // 2``"""
    for node in case.frame.operands():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left, right = case.frame.text(node.left), case.frame.text(node.right)
            yield replace(case.frame, node, f"{left} // {right}")


_NOT_A_NUMBER = r"'<=' not supported between instances of 'float' and '({})'"
_OPTION = "import torch.nn as nn\nlayer = nn.Linear(2, 2)\n"

ENTRIES = (
    *(
        ErrorEntry(item.code, item.expression, item.text, _FIXES.get(item.text, no_fix), plain=True, example=item.example)
        for item in EXPLANATIONS
    ),
    ErrorEntry(
        "TS825",
        _NOT_A_NUMBER.format("str"),
        "explain.option_type",
        _numbers_of_optimizer,
        applies=lambda case: case.is_below("torch/optim/"),
        example=_OPTION + "torch.optim.Adam(layer.parameters(), lr='1e-3')",
        plain=True,
    ),
    ErrorEntry(
        "TS199",
        _NOT_A_NUMBER.format("tuple|list|NoneType|dict"),
        "explain.option_type",
        applies=lambda case: case.is_below("torch/optim/"),
        example=_OPTION + "rate = 1e-3,\ntorch.optim.Adam(layer.parameters(), lr=rate)",
        plain=True,
    ),
    ErrorEntry(
        "TS312",
        rf"^(?:{'|'.join(_SIZED)})\(\) takes 1 positional argument but \d+ were given",
        "error.float_size",
        _divided,
        applies=_float_size,
        example="n = 8\nx = torch.zeros(n / 2, 3)",
    ),
)  # fmt: skip

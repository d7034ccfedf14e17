"""Tuples where one array is wanted: what a model gives beside its scores, since an option asks for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame, shape_text
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import append, replace
from torchsleuth.errors.reached import note
from torchsleuth.schema import Fix, Json, Related
from torchsleuth.syntax.forms import is_literal, keyword_of

_OPTIONS = ("output_hidden_states", "output_attentions", "return_features", "return_attention")
"""Options of models that give more than the scores."""
MAX_LISTED = 3


def _tuple(case: Case) -> tuple[ast.expr, list[Json]] | None:
    """The operand of the failing expression that is a tuple which begins with an array, and its items."""
    for operand in case.frame.operands():
        value = case.frame.value(operand)
        items = value.get("items") if value is not None and value.get("type") == "tuple" else None
        if items and len(items) > 1 and _is_array(items[0]):
            return operand, items
    return None


def _is_array(value: Json) -> bool:
    return value.get("kind") in ("array", "tensor") and bool(value.get("shape"))


def _options(case: Case) -> Iterator[tuple[CrashFrame, ast.keyword]]:
    """``output_hidden_states=True``, wherever a model or its configuration is made."""
    for file in case.files if _tuple(case) is not None else ():
        for call in file.all(ast.Call):
            for given in (keyword_of(call, name) for name in _OPTIONS):
                if given is not None and is_literal(given.value, True):
                    yield file, given


def _options_here(case: Case) -> Iterator[Related]:
    for file, given in _options(case):
        yield note(file.source, given, "error.asks_for_more")


def _without_option(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``output_hidden_states=True`` → ``output_hidden_states=False``"""
    for file, given in _options(case):
        yield replace(file, given, f"{given.arg}=False", safe=False)


def _first_of_it(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``np.argmax(result.predictions, -1)`` → ``np.argmax(result.predictions[0], -1)``"""
    known = _tuple(case)
    if known is not None and isinstance(known[0], ast.Name | ast.Attribute):
        yield append(case.frame, known[0], "[0]", safe=False)


def _told(case: Case) -> dict[str, str]:
    """For the message: what the tuple is called, and what is in it."""
    known = _tuple(case)
    if known is None:
        return {}
    operand, items = known
    shapes = [f"an array {shape_text(one)}" if _is_array(one) else f"a {one.get('type')}" for one in items]
    more = ", …" if len(items) > MAX_LISTED else ""
    name = case.frame.source.on_one_line(operand)[:40]
    return {"name": name, "count": str(len(items)), "items": ", ".join(shapes[:MAX_LISTED]) + more}


_UNEVEN = r"inhomogeneous shape|setting an array element with a sequence"

ENTRIES = (
    entry("TS918", _UNEVEN, "error.tuple_for_array", applies=lambda case: _tuple(case) is not None, values=_told),
)
BUILDERS: tuple[tuple[str, Builder], ...] = ((_UNEVEN, _without_option), (_UNEVEN, _first_of_it))
PLACES = ((_UNEVEN, _options_here),)

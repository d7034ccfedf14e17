"""Positions of a sequence that something is joined to after it was cut to the most that there are positions for, or that a loop makes
one longer in each pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import made_from, straight
from torchsleuth.errors.reached import Filled, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    given_to,
    is_display,
    is_literal,
    keyword_of,
    nodes_in,
    plain_name,
    stands_on,
)

_JOINS = ("cat", "concat", "concatenate", "hstack")


def _too_many(case: Case) -> int:
    """How many more positions an embedding is asked for than it has, where it gets them all, from the first to the last."""
    attributes = (case.module or {}).get("attributes") or {}
    rows, given = attributes.get("num_embeddings"), case.input
    bounds = given.get("range") if given is not None else None
    if given is None or not isinstance(rows, int) or not bounds or not given["shape"]:
        return 0
    length = given["shape"][-1]
    return length - rows if bounds == [0, length - 1] and length > rows else 0


def _cut(case: Case) -> tuple[Filled, Filled] | None:
    """The length that the sequence was cut to, the place where that is decided, and where something is joined to it."""
    if not _too_many(case) or case.given is None:
        return None
    made = made_from(case, case.frame, case.given[0])
    joins = [(file, node) for file, node in made if isinstance(node, ast.Call) and called(node) in _JOINS]
    joins = [(file, node) for file, node in joins if node.args and is_display(node.args[0])]
    cuts = [
        (file, node.slice.upper)
        for file, node in made
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        if node.slice.upper is not None and node.slice.lower is None
    ]
    if not joins or not cuts:
        return None
    file, upper = cuts[0]
    way = [(file, upper), *straight(case, file, upper)]
    named = [
        item for item in way if isinstance(item[1], ast.Name | ast.Attribute)
    ]  # a number may be that of the rows, too
    return (named or way)[-1], joins[0]


def _cut_here(case: Case) -> Iterator[Related]:
    found = _cut(case)
    if found is not None:
        (file, upper), (other, join) = found
        yield note(file.source, upper, "error.cut_to", count=_too_many(case))
        yield note(other.source, join, "error.joined_here")


def _cut_shorter(case: Case, found: object) -> Iterator[Fix]:
    """``args.longest`` → ``args.longest - args.prompt``, where that option is as many as there are too many; else their number."""
    known = _cut(case)
    if known is None:
        return
    file, upper = known[0]
    if isinstance(upper, ast.Name | ast.Attribute | ast.Constant):
        yield replace(file, upper, f"{file.text(upper)} - {_named(case, file, upper)}", safe=False)


def _named(case: Case, file: CrashFrame, upper: ast.expr) -> str:
    count = _too_many(case)
    options = [
        str(getattr(call.args[0], "value", "")).lstrip("-").replace("-", "_")
        for other in case.files
        for call in other.all(ast.Call)
        if called(call) == "add_argument" and call.args
        if (given := keyword_of(call, "default")) is not None and is_literal(given.value, count)
    ]
    if isinstance(upper, ast.Attribute) and len(options) == 1:
        return f"{file.text(upper.value)}.{options[0]}"
    return str(count)


def _one_too_many(case: Case) -> int | None:
    """How many positions there are, where a sequence has one more."""
    found = re.search(_SIZES, case.crash["message"])
    if found is not None:
        few, many = sorted(int(part) for part in found.groups() if part is not None)
        return few if many == few + 1 else None
    rows = ((case.module or {}).get("attributes") or {}).get("num_embeddings")
    bounds = (case.input or {}).get("range")
    return rows if isinstance(rows, int) and bounds and bounds[1] == rows else None


def _lengthened(case: Case) -> Iterator[tuple[CrashFrame, ast.Name, ast.Assign]]:
    """The sequence that a loop of the user's passes on and makes longer in each pass: ``ids = torch.cat([ids, new], 1)``; whole
    as it is passed."""
    for frame in case.frames if _one_too_many(case) else ():
        loops = [loop for loop in nodes_in(frame.enclosing, ast.For, ast.While) if stands_on(loop, frame.line)]
        passed = {part.id: part for part in given_to(frame.call) if isinstance(part, ast.Name)}
        for node in nodes_in(loops[-1], ast.Assign) if loops else ():
            name, value = plain_name(node.targets[0]), node.value
            joined = value.args[0] if isinstance(value, ast.Call) and called(value) in _JOINS and value.args else None
            if name in passed and is_display(joined) and plain_name(joined.elts[0]) == name:
                dim = argument_of(value, 1, "dim", "axis") if isinstance(value, ast.Call) else None
                if dim is not None and frame.text(dim) in ("1", "-1"):
                    yield frame, passed[str(name)], node


def _lengthened_here(case: Case) -> Iterator[Related]:
    for frame, name, node in _lengthened(case):
        yield note(frame.source, name, "error.passed_whole", count=_one_too_many(case))
        yield note(frame.source, node, "error.joined_here")


def _last_ones(case: Case, found: object) -> Iterator[Fix]:
    """``model(ids)`` → ``model(ids[:, -32:])``, of a model with 32 positions."""
    for frame, name, _ in _lengthened(case):
        yield replace(frame, name, f"{name.id}[:, -{_one_too_many(case)}:]", safe=False)


_TOO_LARGE = r"index out of range in self"
_SIZES = (
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"
    r"|expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"
)

BUILDERS: tuple[tuple[str, Builder], ...] = ((_TOO_LARGE, _cut_shorter), (f"{_TOO_LARGE}|{_SIZES}", _last_ones))
PLACES = ((_TOO_LARGE, _cut_here), (f"{_TOO_LARGE}|{_SIZES}", _lengthened_here))

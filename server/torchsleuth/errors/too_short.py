"""Tables of positions that are shorter than the sequences, and data sets that promise more pieces than there are whole ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.reached import note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import (
    called,
    is_constant,
    is_name,
    nodes_in,
    parts_of_key,
    plain_name,
    returned_by,
)

_POSITIONS = (
    "max_position_embeddings n_positions n_ctx max_seq_len max_seq_length max_len max_length block_size context_length seq_len"
    " context_window max_positions".split()
)
"""What the number of positions of a model is called."""


def _sizes(case: Case) -> tuple[int, int] | None:
    """The positions that there are, and those that a sequence needs."""
    told = f"{case.layer} {case.frame.text(case.frame.node) if case.frame.node is not None else ''}"
    if re.search(r"pos|wpe|Embeddings", told) is None:
        return None
    found = re.search(_LONGER, case.crash["message"])
    if found is not None:
        numbers = [int(part) for part in found.groups() if part is not None]
        return (min(numbers), max(numbers)) if len(numbers) == 2 else None
    module = case.crash["module"] or {}
    rows = (module.get("attributes") or {}).get("num_embeddings")
    bounds = (case.input or {}).get("range")
    if "index out of range" in case.crash["message"] and type(rows) is int and bounds and bounds[1] >= rows:
        return rows, int(bounds[1]) + 1
    return None


def _positions(case: Case) -> list[tuple[CrashFrame, ast.Constant, int]]:
    """Where the number of positions is written, with one that is large enough."""
    sizes = _sizes(case)
    return [
        (file, keyword.value, 1 << (sizes[1] - 1).bit_length())
        for file in (case.files if sizes is not None else ())
        for call in file.all(ast.Call)
        for keyword in call.keywords
        if sizes is not None
        and keyword.arg in _POSITIONS
        and is_constant(keyword.value, int)
        and keyword.value.value == sizes[0] < sizes[1]
        and not re.match(r"tok", called(call), re.IGNORECASE)
    ][:2]


def _positions_here(case: Case) -> Iterator[Related]:
    for file, number, _ in _positions(case):
        yield note(file.source, number, "error.positions", number=number.value)


def _more_positions(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``max_position_embeddings=16`` → ``32``, where a sequence has 22 tokens."""
    for file, number, enough in _positions(case):
        yield replace(file, number, str(enough), safe=False)


# pieces of a series


def _lengths(case: Case) -> list[tuple[CrashFrame, ast.expr, str]]:
    """The lengths of data sets whose last samples are cut short: what ``__len__`` returns, and how many whole pieces there are."""
    found = []
    for file in case.files:
        for kind in file.all(ast.ClassDef):
            methods = {part.name: part for part in kind.body if isinstance(part, ast.FunctionDef)}
            sample, length = methods.get("__getitem__"), methods.get("__len__")
            returned = returned_by(length) if length is not None else []
            if sample is None or len(returned) != 1 or len(sample.args.args) != 2:
                continue
            index = sample.args.args[1].arg
            ends = [
                (file.text(node.value), part.upper)
                for node in nodes_in(sample, ast.Subscript)
                for part in parts_of_key(node)
                if isinstance(part, ast.Slice) and isinstance(part.upper, ast.BinOp)
            ]
            offsets = [(whole, text) for whole, upper in ends if (text := _behind(file, upper, index)) is not None]
            if offsets and len({whole for whole, _ in offsets}) == 1:
                whole, offset = max(offsets, key=lambda pair: len(pair[1]))
                new = f"len({whole}) - {offset if offset.isidentifier() else f'({offset})'} + 1"
                if "".join(file.text(returned[0]).split()) != "".join(new.split()) and whole in file.text(returned[0]):
                    found.append((file, returned[0], new))
    return found if len(found) == 1 else []


def _behind(file: CrashFrame, upper: ast.expr, index: str) -> str | None:
    """``self.size + self.horizon`` of ``i + self.size + self.horizon``."""
    terms: list[ast.expr] = []
    while isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        terms.insert(0, upper.right)
        upper = upper.left
    if plain_name(upper) != index or any(is_name(part, index) for term in terms for part in ast.walk(term)):
        return None
    return " + ".join(file.text(term) for term in terms)


def _lengths_here(case: Case) -> Iterator[Related]:
    for file, value, _ in _lengths(case):
        yield note(file.source, value, "error.more_than_whole")


def _whole_ones(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``len(self.series) - self.size`` → ``len(self.series) - (self.size + self.horizon) + 1``"""
    for file, value, new in _lengths(case):
        yield replace(file, value, new, safe=False)


_LONGER = r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)|size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"
_PIECES = r"stack expects each tensor to be equal size|each element in list of batch should be of equal size"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (f"{_LONGER}|index out of range in self", _more_positions),
    (_PIECES, _whole_ones),
)
PLACES = ((f"{_LONGER}|index out of range in self", _positions_here), (_PIECES, _lengths_here))

"""Sequences that are packed with lengths beyond what was padded: the lengths were taken before the sequences were cut."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import append_in, replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import around, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    is_function_call,
    is_method_call,
    keyword_of,
    literal,
    nodes_in,
)

_Packed = tuple[CrashFrame, ast.Call, ast.expr]


def _packs(case: Case) -> list[_Packed]:
    """The calls that packed what a recurrent layer was given, with the lengths."""
    found: dict[int, _Packed] = {}
    for operand in case.frame.operands():
        for file, node in made_from(case, case.frame, operand):
            lengths = argument_of(node, 1, "lengths") if isinstance(node, ast.Call) else None
            if called(node) == "pack_padded_sequence" and isinstance(node, ast.Call) and lengths is not None:
                found.setdefault(id(node), (file, node, lengths))
    return list(found.values())[:1]


def _measured(case: Case) -> list[tuple[CrashFrame, ast.Call, ast.Subscript]]:
    """Where the lengths are measured of what is cut for the batch, in the same function: ``len(ids)`` and ``ids[:limit]``."""
    found: list[tuple[CrashFrame, ast.Call, ast.Subscript]] = []
    for place, _, lengths in _packs(case):
        for file, node in made_from(case, place, lengths):
            if not is_function_call(node, "len") or len(node.args) != 1:
                continue
            whole = file.text(node.args[0])
            cuts = [
                part
                for part in nodes_in(around(file.tree, node), ast.Subscript)
                if isinstance(part.slice, ast.Slice) and part.slice.upper is not None and file.text(part.value) == whole
            ]
            if cuts:
                found.append((file, node, cuts[0]))
    return found[:1]


def _packed_here(case: Case) -> Iterator[Related]:
    for file, node, _ in _measured(case):
        yield note(file.source, node, "error.measured_whole")
    for file, node, _ in _packs(case):
        yield note(file.source, node, "error.packed_here")


def _cut_first(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``len(ids)`` → ``len(ids[:limit])``; else ``lengths`` → ``lengths.clamp(max=x.size(1))`` where they are packed."""
    for file, node, cut in _measured(case):
        yield replace(file, node.args[0], file.text(cut))
    for file, call, lengths in _packs(case):
        whole = _padded(call.args[0]) if call.args else None
        first = keyword_of(call, "batch_first")
        if whole is not None:
            dimension = int(first is not None and literal(first.value) is True)
            yield append_in(file.source, lengths, f".clamp(max={file.text(whole)}.size({dimension}))", safe=False)


def _padded(node: ast.expr) -> ast.expr | None:
    """``ids`` of ``self.embed(ids)``: what layers give for each step is as long as what they are given."""
    while isinstance(node, ast.Call) and len(node.args) == 1 and not is_method_call(node, "transpose", "permute"):
        node = node.args[0]
    return node if isinstance(node, ast.Name | ast.Attribute) else None


_LONGER = r"start \(\d+\) \+ length \(\d+\) exceeds dimension size"

ENTRIES = (
    entry("TS110", _LONGER, "error.packed_longer", applies=lambda case: case.module is not None and bool(_packs(case))),
)
BUILDERS: tuple[tuple[str, Builder], ...] = ((_LONGER, _cut_first),)
PLACES = ((_LONGER, _packed_here),)

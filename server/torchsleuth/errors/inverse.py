"""Transforms that are taken back to another length than they came from, which they are not told."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import add_argument
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, around, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import called, is_method_call, keyword_of, nodes_in

_INVERSES = {
    "irfft": ("rfft", "n", "size(-1)"),
    "irfft2": ("rfft2", "s", "shape[-2:]"),
    "istft": ("stft", "length", "size(-1)"),
}
"""For each function that takes a transform back: that, the argument with the length, and how to ask for it."""


def _untold(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """Those among what the operands are made from that are not told the length, where the sizes differ in the last dimensions."""
    found = re.search(_SIZES, case.crash["message"])
    sizes = {int(part) for part in found.groups() if part is not None} if found is not None else set()
    if not any(set(tensor["shape"][-2:]) & sizes for _, tensor in case.frame.tensor_operands()):
        return []
    made: dict[int, tuple[CrashFrame, ast.Call]] = {}
    whole: list[Filled] = [(case.frame, part) for part in case.frame.operands()]
    for file, part in whole:
        for place, node in made_from(case, file, part):
            if (
                isinstance(node, ast.Call)
                and called(node) in _INVERSES
                and keyword_of(node, _INVERSES[called(node)][1]) is None
            ):
                if len(node.args) < 2 or called(node) == "istft":
                    made.setdefault(id(node), (place, node))
    return list(made.values())[:2]


def _untold_here(case: Case) -> Iterator[Related]:
    for file, node in _untold(case):
        yield note(file.source, node, "error.length_untold", name=called(node))


def _with_length(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.fft.irfft(spec)`` → ``torch.fft.irfft(spec, n=x.size(-1))``, of what was transformed in the same function."""
    for file, node in _untold(case):
        forward, option, size = _INVERSES[called(node)]
        for call in nodes_in(around(file.tree, node), ast.Call):
            if called(call) == forward:
                plain = is_method_call(call) and not re.match(r"(?:torch|np|fft)\b", file.text(call.func))
                whole = call.func.value if plain and is_method_call(call) else call.args[0] if call.args else None
                if isinstance(whole, ast.Name | ast.Attribute):
                    yield add_argument(file.source, node, f"{option}={file.text(whole)}.{size}")
                    break


_SIZES = r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)|Expected size (\d+) but got size (\d+)"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_SIZES, _with_length),)
PLACES = ((_SIZES, _untold_here),)

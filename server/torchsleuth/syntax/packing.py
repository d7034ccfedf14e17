"""Packed sequences as they are written: what is unpacked, and which tensor was packed."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchsleuth.syntax.forms import called, is_method_call, is_reference, keyword_of, nodes_in


class Unpacking(NamedTuple):
    """``pad_packed_sequence(…)`` without a length. `whole`: the padded tensor that was packed. `axis`: that of its steps."""

    call: ast.Call
    whole: ast.expr
    axis: int

    def total_length(self) -> str | None:
        """The argument with which the result has as many steps as what was packed."""
        whole = self.whole
        while (
            isinstance(whole, ast.Call) and len(whole.args) == 1 and not is_method_call(whole, "transpose", "permute")
        ):
            whole = whole.args[0]
        return f"total_length={ast.unparse(whole)}.shape[{self.axis}]" if is_reference(whole) else None


def unpackings(scope: ast.AST) -> list[Unpacking]:
    """Those in a function, where one tensor is packed."""
    calls = list(nodes_in(scope, ast.Call))
    packs = [call for call in calls if called(call) == "pack_padded_sequence" and call.args]
    if len(packs) != 1:
        return []
    first = keyword_of(packs[0], "batch_first")
    axis = int(first is not None and getattr(first.value, "value", False) is True)
    return [
        Unpacking(call, packs[0].args[0], axis)
        for call in calls
        if called(call) == "pad_packed_sequence" and keyword_of(call, "total_length") is None
    ]


__all__ = ["Unpacking", "unpackings"]

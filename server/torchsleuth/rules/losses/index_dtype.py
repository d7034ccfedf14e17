"""index-dtype: indices that are not integers.

What it finds
    Embedding, gather, one_hot, index_select and indexing with floating point indices.
Why it hurts
    PyTorch stops with "tensors used as indices must be long, int, byte or bool tensors".
Example
    tokens = torch.zeros(8, 20)
    nn.Embedding(1000, 64)(tokens)
Use instead
    tokens = torch.zeros(8, 20, dtype=torch.int64)
    nn.Embedding(1000, 64)(tokens)
Fix safety
    Safe: indices are whole numbers, and int64 holds them all.
References
    torch.nn.Embedding, torch.gather
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.casts import casts
from torchsleuth.rules.evidence.describe import layer_text, operator_text
from torchsleuth.rules.evidence.operands import Operand, assigned, operands, suffixed_at_birth
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.synthesis.shapes import same_shape

CODE = "TS309"
_INTEGERS = ("int", "uint", "bool")
_NARROW = ("int32", "int16", "int8", "uint8")
"""Integers that some operators do not take for indices."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        operation = failure.operation
        index = _index(operands(operation), operation.name)
        if index is None:
            yield plain
            continue
        text = message(
            "index.dtype",
            tensor=index.described("the index"),
            dtype=index.spec.dtype,
            user=layer_text(operation.module) if operation.module is not None else operator_text(operation),
        )
        candidates = casts(analysis, index, "int64")
        if operation.target.endswith("getitem") and _is_mask(operands(operation)[0], index):
            candidates = _as_mask(analysis, index)
            text = message("index.mask", tensor=index.described("the index"), dtype=index.spec.dtype)
        yield Finding(operation.site.span, text, trail(analysis, failure), candidates)


def _as_mask(analysis: Analysis, index: Operand) -> Iterator[Candidate]:
    yield from assigned(index, ".bool()")
    yield from suffixed_at_birth(index, ".bool()")
    yield from casts(analysis, index, "bool")


def _is_mask(table: Operand, index: Operand) -> bool:
    """Whether there is an index for each element of several dimensions: what picks some of them is a mask."""
    rank = len(index.shape)
    return rank > 1 and len(table.shape) >= rank and same_shape(table.shape[:rank], index.shape)


def _index(given: list[Operand], name: str) -> Operand | None:
    """The operand that is used as an index: the first one of an embedding or one_hot, a later one elsewhere."""
    first = name.startswith("Embedding") or name in ("embedding", "one_hot")
    narrow = next((used for used in given[1:] if used.spec.dtype in _NARROW), None)
    if narrow is not None:
        return narrow
    wrong = [used for used in given if used.spec.dtype and not used.spec.dtype.startswith(_INTEGERS)]
    candidates = wrong if first else [used for used in wrong if used is not given[0]]
    return candidates[0] if candidates else None


RULE = Rule(FAULTS[CODE], find)

"""weights-of-the-frequent: classes that are frequent get the larger weights.

What it finds
    The number of samples of each class, or its share, as the `weight` of a loss of classes or, for each sample, as the weights
    of WeightedRandomSampler. A `pos_weight` that divides the positive labels by the negative ones.
Why it hurts
    A weight says how much a sample counts. With the counts themselves, the frequent classes weigh the more, twice over: the
    model learns to predict them alone. Nothing is raised.
Example
    counts = torch.bincount(labels).float()
    criterion = nn.CrossEntropyLoss(weight=counts / counts.sum())
Use instead
    counts = torch.bincount(labels).float()
    criterion = nn.CrossEntropyLoss(weight=counts.sum() / counts)
Fix safety
    Unsafe: the reciprocal of the weights; a class without samples needs another weight.
References
    torch.nn.CrossEntropyLoss, torch.nn.BCEWithLogitsLoss, torch.utils.data.WeightedRandomSampler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import lineage, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax.forms import argument_of, is_primary
from torchsleuth.values import Tensor

CODE = "TS333"
_WEIGHTED = {"CrossEntropyLoss": 0, "NLLLoss": 0, "cross_entropy": 2, "nll_loss": 2, "WeightedRandomSampler": 0}
"""Losses and samplers that take weights, and their place among the arguments."""
_BINARY = {"BCEWithLogitsLoss": None, "binary_cross_entropy_with_logits": None}
_GROWING = frozenset("float double to sqrt div truediv mul getitem cpu cuda clamp".split())
"""Operations that keep the order of what is larger, with a number, or with the sum of all."""
_LABELS = frozenset("gt ge lt le randint tensor from_numpy".split())
"""Operations that give labels of zero and one."""
_SUMS = frozenset({"sum", "count_nonzero"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for name in (*_WEIGHTED, *_BINARY):
        for call in analysis.calls_at_places(f".{name}"):
            word = "weights" if name.endswith("Sampler") else "weight" if name in _WEIGHTED else "pos_weight"
            written = argument_of(call.site.call, _WEIGHTED.get(name), word) if call.site.call is not None else None
            given = call.given(_WEIGHTED.get(name, 99), word)
            if written is None or not isinstance(given, Tensor):
                continue
            made = (
                _counts(analysis, given, word == "weights")
                if name in _WEIGHTED
                else _positive_by_negative(analysis, given)
            )
            if made is not None:
                yield _finding(call, written, word, made)


def _counts(analysis: Analysis, weights: Tensor, of_samples: bool) -> Operation | None:
    """The bincount() of which weights are a growing function. `of_samples`: looked up by the class of each sample."""
    looked_up = False
    for _, operation in lineage(analysis, weights):
        name = operation.name
        if name == "bincount":
            return operation if looked_up or not of_samples else None
        looked_up = looked_up or name == "getitem"
        first, *others = operation.args or (None,)
        whole = all(not isinstance(other, Tensor) or other.spec.shape == () for other in others)
        if name not in _GROWING or not isinstance(first, Tensor) or not (whole or name == "getitem"):
            return None
    return None


def _positive_by_negative(analysis: Analysis, weight: Tensor) -> Operation | None:
    """The division of the number of positive labels by that of the negative ones."""
    for _, operation in lineage(analysis, weight):
        if operation.name in ("div", "truediv"):
            parts = operation.args[:2]
            if len(parts) == 2 and isinstance(parts[0], Tensor) and isinstance(parts[1], Tensor):
                known = (_meaning(analysis, parts[0]), _meaning(analysis, parts[1]))
                return operation if known == (True, False) else None
            if not parts or not isinstance(parts[0], Tensor):
                return None  # the reciprocal of something
        if operation.name not in _GROWING:
            return None
    return None


def _meaning(analysis: Analysis, count: Tensor) -> bool | None:
    """Whether a number is that of the positive labels (True) or of the negative ones; None if neither."""
    operation = _last(analysis, count)
    if operation is None:
        return None
    name, args = operation.name, operation.args
    if name in ("sub", "rsub") and len(args) == 2:
        given = next((part for part in args if isinstance(part, Tensor)), None)
        positive = given is not None and not all(isinstance(part, Tensor) for part in args)
        subtracted = args[1] is given if name == "sub" else args[0] is given
        return False if positive and subtracted and given is not None and _meaning(analysis, given) else None
    if name not in _SUMS or not operation.operands:
        return None
    inner = _last(analysis, operation.operands[0])
    if inner is not None and inner.name == "eq" and len(inner.args) == 2 and inner.args[1] in (0, 1):
        return bool(inner.args[1])
    if inner is not None and inner.name in ("rsub", "sub") and inner.args[0] == 1:
        return False
    return True if inner is not None and inner.name in _LABELS else None


def _last(analysis: Analysis, tensor: Tensor) -> Operation | None:
    """The operation that gave a tensor, with conversions left out."""
    for _, operation in lineage(analysis, tensor):
        if operation.name not in ("float", "double", "to", "cpu", "long"):
            return operation
    return None


def _finding(call: LibraryCall, written: ast.expr, word: str, made: Operation) -> Finding:
    key = "weights.reversed" if word == "pos_weight" else "weights.counts"
    source = call.site.source
    text = message(key, text=source.on_one_line(written), word=word)
    place = made.site.span.related(message(f"{key}.made"))
    return Finding(source.span(written), text, (place,), (_reciprocal(call, written),))


def _reciprocal(call: LibraryCall, written: ast.expr) -> Candidate:
    text = call.site.source.segment(written)
    plain = is_primary(written)
    return replaced(call.site, written, f"1 / {text}" if plain else f"1 / ({text})", safe=False)


RULE = Rule(FAULTS[CODE], find)

"""predicts-its-input: a model that is to say which token stands where, and is given that token.

What it finds
    A loss of classes that compares what a model makes of tokens, place by place, with these very tokens: not with those of the
    next places, and without a word that is masked.
Why it hurts
    Each place needs to copy its input and nothing else. The loss falls to nothing in a few steps, and the model cannot
    continue a text. Nothing is raised.
Example
    logits = model(tokens)
    loss = F.cross_entropy(logits.view(-1, vocabulary), tokens.view(-1))
Use instead
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, vocabulary), tokens[:, 1:].reshape(-1))
Fix safety
    There is no fix: which tokens are the targets is up to how batches are cut.
References
    "Attention Is All You Need", section 3.1
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.loops import repeated
from torchsleuth.rules.evidence.operands import behind, operand
from torchsleuth.rules.evidence.twins import computed_alike
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.synthesis.shapes import same
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Tensor

CODE = "TS337"
_LOSSES = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})
_LOOKS_UP = frozenset({"Embedding", "embedding"})
_VIEWS = frozenset("view reshape flatten contiguous long to transpose permute t squeeze unsqueeze".split())
_MAX_STEPS = 200


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss in analysis.trace.operations:
        scores, target = (
            (operand(loss, 0, "input"), operand(loss, 1, "target")) if loss.name in _LOSSES else (None, None)
        )
        if scores is None or target is None or loss.site.span in seen or not repeated(loss):
            continue
        whole = behind(analysis, target.tensor, _VIEWS)
        length = whole.spec.shape[-1] if whole.spec.shape is not None and len(whole.spec.shape) == 2 else None
        if length is None or length == 1:
            continue
        for lookup in _lookups(analysis, scores.tensor, length):
            tokens = behind(analysis, lookup.operands[0], _VIEWS)
            if computed_alike(analysis, tokens, whole):
                seen.add(loss.site.span)
                yield _finding(loss, lookup, target.text("the target"))
                break


def _lookups(analysis: Analysis, scores: Tensor, length: object) -> Iterator[Operation]:
    """The embeddings that scores are computed from, with a place for each token all the way."""
    pending, seen = [scores], set[int]()
    for _ in range(_MAX_STEPS):
        if not pending:
            return
        current = pending.pop()
        operation = analysis.operation_of(current.origin)
        if operation is None or id(current) in seen or not _has_places(current, length):
            continue
        seen.add(id(current))
        if operation.name in _LOOKS_UP:
            yield operation
        else:
            pending += operation.operands


def _has_places(tensor: Tensor, length: object) -> bool:
    """Whether a tensor has a dimension for the tokens of a text, or one for the tokens of all of them."""
    shape = tensor.spec.shape or ()
    return any(same(size, length) for size in shape) or (  # type: ignore[arg-type]
        is_number(length) and len(shape) == 2 and is_number(shape[0]) and shape[0] % length == 0
    )


def _finding(loss: Operation, lookup: Operation, target: str) -> Finding:
    places = (
        lookup.site.span.related(message("input.embedded")),
        *call_trail(loss.site.scene, limit=1),
    )
    return Finding(loss.site.span, message("input.predicted", target=target), places)


RULE = Rule(FAULTS[CODE], find)

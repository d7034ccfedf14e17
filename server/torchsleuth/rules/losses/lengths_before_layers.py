"""lengths-before-layers: a loss over sequences is told how long they were before layers made them shorter.

What it finds
    CTC with the lengths of the padded sequences that went into a network, where its output has fewer steps, as a strided
    convolution or a pooling layer leaves them.
Why it hurts
    The longest sequence of each batch has more steps by its length than there are: PyTorch raises "Expected input_lengths to have
    value at most 50, but got value 100". With a limit on the lengths the loss would read padding instead.
Example
    x, lengths = pad_sequence(batch), torch.tensor([len(one) for one in batch])
    y = conv(x.permute(1, 2, 0)).permute(2, 0, 1).log_softmax(2)
    loss = F.ctc_loss(y, targets, lengths, target_lengths)
Use instead
    loss = F.ctc_loss(y, targets, (lengths - 1) // 2 + 1, target_lengths)
Fix safety
    Safe: it is the formula by which the layers make the longest sequence shorter.
References
    torch.nn.CTCLoss (input_lengths), torch.nn.Conv1d (shape)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, operand, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import first_of
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import Lengths

CODE = "TS362"
_LOSSES = frozenset(("ctc_loss", "CTCLoss"))
_TRIED = range(2, 200)
"""Lengths of the longest sequence for which the number of steps is compared with it."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss in analysis.trace.operations:
        if loss.name not in _LOSSES or loss.site.span in seen:
            continue
        scores, lengths = operand(loss, 0, "log_probs"), operand(loss, 2, "input_lengths")
        shape = scores.spec.shape if scores is not None else None
        held = first_of(lengths.tensor.tags, Lengths) if lengths is not None else None
        if scores is None or lengths is None or held is None or not shape:
            continue
        longest = next((size for size, sizes in analysis.trace.longest.items() if sizes <= held.sizes), None)
        if longest is not None and _is_shorter(shape[0], longest):
            seen.add(loss.site.span)
            yield _finding(loss, scores, lengths, shape[0], longest)


def _is_shorter(steps: Size, longest: Size) -> bool:
    """Whether there are fewer steps than the longest sequence has, however long it is."""
    symbol = dims.symbol(longest)
    if symbol is None or dims.symbols(steps) != (symbol,):
        return False
    found = [dims.substitute(steps, {symbol: count}) for count in _TRIED]
    return all(isinstance(one, int) and one < count for one, count in zip(found, _TRIED))


def _finding(loss: Operation, scores: Operand, lengths: Operand, steps: Size, longest: Size) -> Finding:
    text = message(
        "lengths.before", lengths=lengths.text("the lengths"), longest=dims.text(longest), scores=scores.text("the scores"),
        steps=dims.text(steps),
    )  # fmt: skip
    related = [*call_trail(loss.site.scene, limit=1)]
    made = lengths.tensor.origin
    if made is not None:
        related.append(made.site.span.related(message("lengths.made")))
    at = loss.site.source.span(lengths.node) if lengths.node is not None else loss.site.span
    return Finding(at, text, tuple(related), tuple(_through_layers(lengths, steps, longest)))


def _through_layers(lengths: Operand, steps: Size, longest: Size) -> Iterator[Candidate]:
    """The lengths as the layers leave them."""
    symbol = dims.symbol(longest)
    if lengths.node is None or symbol is None:
        return
    source = lengths.site.source
    named = dims.of(replace(symbol, name=written(source, lengths.node)))
    yield replacement(source, lengths.node, dims.text(dims.substitute(steps, {symbol: named})))


RULE = Rule(FAULTS[CODE], find)

"""samples-along-features: one value for each sample, which meets the last axis of the samples and not the first.

What it finds
    A vector of a batch, (B,), that is added to or multiplied with a batch (B, C, H, W) whose last size is B, too: noise levels,
    weights, lengths. Shapes are aligned at their ends.
Why it hurts
    Each column of an image gets the value of another sample. Nothing is raised as long as the batch has as many samples as
    the last axis has elements; with any other number the program stops.
Example
    t = torch.randint(0, 100, (x.shape[0],))
    noisy = levels[t] * x                    # (16,) and (16, 3, 16, 16)
Use instead
    t = torch.randint(0, 100, (x.shape[0],))
    noisy = levels[t].view(-1, 1, 1, 1) * x
Fix safety
    Safe: each sample gets its own value.
References
    Broadcasting semantics in the PyTorch notes
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.batch import batch_of
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail, origin_trail
from torchsleuth.rules.evidence.operands import Operand, operands, suffixed
from torchsleuth.rules.evidence.squares import MEETINGS
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.synthesis.shapes import same

CODE = "TS124"
_LEAST_RANK = 3
"""A square matrix may hold a value for each two samples."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        pair = operands(operation) if operation.bare_name in MEETINGS else []
        for values, samples in (pair, pair[::-1]) if len(pair) == 2 else ():
            if _are_apart(values, samples) and values.site.span not in seen:
                seen.add(values.site.span)
                yield _finding(values, samples)


def _are_apart(values: Operand, samples: Operand) -> bool:
    """Whether a value for each sample goes along another axis than the samples do."""
    shape = samples.shape
    if len(values.shape) != 1 or len(shape) < _LEAST_RANK or values.shape[0] == 1:
        return False
    of_batch = batch_of(values.tensor) == 0 and batch_of(samples.tensor) == 0
    return of_batch and same(values.shape[0], shape[0]) and same(values.shape[0], shape[-1])


def _finding(values: Operand, samples: Operand) -> Finding:
    text = message(
        "samples.along",
        values=values.text("the vector"),
        samples=samples.described("the batch"),
        shape=f"({values.shape[0]}{', 1' * (len(samples.shape) - 1)})",
    )
    places = (*call_trail(values.site.scene, limit=1), *origin_trail(values.tensor, values.text("the vector")))
    suffix = f".view(-1{', 1' * (len(samples.shape) - 1)})"
    return Finding(values.site.span, text, places, tuple(suffixed(values, suffix)))


RULE = Rule(FAULTS[CODE], find)

"""steps-of-the-longest: unpacked sequences meet a tensor that is always padded to the same length.

What it finds
    What `pad_packed_sequence` gives without `total_length`, in a sum, product or concatenation with a tensor of a fixed number of steps,
    where the lengths of the sequences are not known.
Why it hurts
    The unpacked batch is as long as its longest sequence. Batches are padded to a fixed length here: as soon as none of a batch's
    sequences is as long as that, sizes do not match. It is only certain once the lengths are.
Example
    context, _ = pad_packed_sequence(packed, batch_first=True)
    y = context + self.skip(x)               # x is always (B, 80, 16)
Use instead
    context, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
    y = context + self.skip(x)
Fix safety
    Safe: the steps that are added are zero.
References
    torch.nn.utils.rnn.pad_packed_sequence
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, operands
from torchsleuth.rules.evidence.squares import MEETINGS
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.packing import unpackings
from torchsleuth.synthesis.shapes import same
from torchsleuth.values import PaddedSteps

CODE = "TS125"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        pair = operands(operation) if operation.bare_name in MEETINGS | {"cat"} else []
        for unpacked, other in (pair, pair[::-1]) if len(pair) == 2 else ():
            steps = _fixed(unpacked, other)
            if steps is not None and operation.site.span not in seen:
                seen.add(operation.site.span)
                text = message(
                    "steps.longest", unpacked=unpacked.text("this"), other=other.text("the other"), steps=steps
                )
                places = tuple(call_trail(operation.site.scene, limit=1))
                yield Finding(operation.site.span, text, places, tuple(_of_total_length(unpacked)))


def _fixed(unpacked: Operand, other: Operand) -> int | None:
    """The fixed number of steps that the other one has, where the longest sequence decides how many there are here."""
    steps = first_of(unpacked.tensor.tags, PaddedSteps)
    one, two = unpacked.shape, other.shape
    if steps is None or isinstance(steps.steps, int) or len(one) != len(two) or not same(one[steps.axis], steps.steps):
        return None
    fixed = two[steps.axis]
    return fixed if isinstance(fixed, int) and fixed > 1 else None


def _of_total_length(unpacked: Operand) -> Iterator[Candidate]:
    source = unpacked.site.source
    for one in unpackings(unpacked.site.scene.scope):
        text = one.total_length()
        if text is not None:
            yield Candidate(message("fix.add_argument", argument=text), (edits.add_argument(source, one.call, text),))


RULE = Rule(FAULTS[CODE], find)

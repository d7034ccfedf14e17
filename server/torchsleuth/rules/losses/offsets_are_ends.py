"""offsets-are-ends: an EmbeddingBag is told where its bags end instead of where they begin.

What it finds
    `EmbeddingBag` and `F.embedding_bag` with offsets that are the cumulative sum of the sizes of the bags.
Why it hurts
    An offset is the place where a bag begins, so the first one is 0: PyTorch raises "offsets[0] has to be 0". The cumulative sum
    of the sizes is where they end.
Example
    sizes = torch.tensor([3, 1, 2])
    bags = nn.EmbeddingBag(10, 4)(torch.arange(6), sizes.cumsum(0))
Use instead
    sizes = torch.tensor([3, 1, 2])
    bags = nn.EmbeddingBag(10, 4)(torch.arange(6), sizes.cumsum(0) - sizes)
Fix safety
    Safe: an end without the size is the beginning.
References
    torch.nn.EmbeddingBag (offsets)
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import operand
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, appended
from torchsleuth.schema import Span
from torchsleuth.sifting import first_of
from torchsleuth.syntax.forms import is_method_call, is_reference
from torchsleuth.values import Bounds, Lengths

CODE = "TS363"
_BAGS = {"EmbeddingBag": 1, "embedding_bag": 2}
"""The operators, and where the offsets stand."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for bags in analysis.trace.operations:
        if bags.name not in _BAGS or bags.site.span in seen:
            continue
        offsets = operand(bags, _BAGS[bags.name], "offsets")
        ends = analysis.operation_of(offsets.tensor.origin) if offsets is not None else None
        if ends is None or ends.name != "cumsum" or not _are_sizes(ends):
            continue
        seen.add(bags.site.span)
        yield _finding(bags, ends)


def _are_sizes(ends: Operation) -> bool:
    """Whether they are known to be greater than 0: the lengths of samples, or numbers."""
    sizes = ends.tensors[0]
    bounds = first_of(sizes.tags, Bounds)
    return first_of(sizes.tags, Lengths) is not None or (bounds is not None and bounds.low > 0)


def _finding(bags: Operation, ends: Operation) -> Finding:
    text = message("offsets.ends", ends=ends.site.source.on_one_line(ends.site.node))
    related = [*call_trail(bags.site.scene, limit=1), bags.site.span.related(message("offsets.bag"))]
    return Finding(ends.site.span, text, tuple(related), tuple(_beginnings(ends)))


def _beginnings(ends: Operation) -> Iterator[Candidate]:
    source, call = ends.site.source, ends.site.call
    if call is None:
        return
    sizes = call.func.value if is_method_call(call, "cumsum") and ends.target.startswith("Tensor.") else None
    sizes = sizes if sizes is not None else call.args[0] if call.args else None
    if is_reference(sizes):
        yield appended(source, call, f" - {source.segment(sizes)}")


RULE = Rule(FAULTS[CODE], find)

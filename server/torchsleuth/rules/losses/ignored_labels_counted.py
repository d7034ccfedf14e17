"""ignored-labels-counted: an accuracy that counts the labels which the loss leaves out.

What it finds
    `(predicted == labels).float().mean()` over labels of which the loss ignores some (-100, or what `ignore_index` says): no
    class has such a number, so that each of them counts as a mistake.
Why it hurts
    Nothing is raised. The accuracy depends on how much padding there is: with half of the labels ignored, a perfect model
    has 50 %.
Example
    loss = F.cross_entropy(logits.transpose(1, 2), labels)          # ignores -100
    accuracy = (logits.argmax(-1) == labels).float().mean()
Use instead
    kept = labels != -100
    accuracy = (logits.argmax(-1)[kept] == labels[kept]).float().mean()
Fix safety
    Safe: an ignored label is never predicted.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.classes import held, ignored_by, is_choice, is_entropy
from torchsleuth.rules.evidence.operands import Operand, operands
from torchsleuth.rules.evidence.squares import Uses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits

CODE = "TS320"
_CONVERSIONS = frozenset("float double half to type bool".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    ignoring = {ignored_by(operation): operation for operation in analysis.trace.operations if is_entropy(operation)}
    comparisons = [one for one in analysis.trace.operations if one.name == "eq"] if ignoring else []
    uses: Uses = Uses(analysis)
    seen: set[Span] = set()
    for operation in comparisons:
        labels = _labels(operation, set(ignoring))
        if labels is None or operation.site.span in seen or not _is_averaged(uses, operation):
            continue
        seen.add(operation.site.span)
        bounds = held(labels.tensor)
        assert bounds is not None
        loss = ignoring[bounds.low]
        where = loss.site.span.related(message("counted.loss", number=bounds.low))
        text = message("counted.labels", labels=labels.text(), number=bounds.low)
        yield Finding(operation.site.span, text, (where,), _kept(operation, labels, bounds.low))


def _labels(operation: Operation, ignored: set[int]) -> Operand | None:
    """The labels that predicted classes are compared with, where they hold a number below 0 that a loss ignores."""
    pair = operands(operation)
    for one, other in (pair, pair[::-1]) if len(pair) == 2 else ():
        bounds = held(other.tensor)
        if bounds is not None and bounds.low < 0 and bounds.low in ignored and is_choice(one.tensor):
            return other
    return None


def _is_averaged(uses: Uses, operation: Operation) -> bool:
    """Whether the mean of all comparisons is taken, and nothing is left out before."""
    current = operation
    while following := uses.of(current):
        name = following[0].name
        if len(following) == 1 and name == "mean":
            return not following[0].args[1:] and not following[0].kwargs
        if len(following) != 1 or name not in _CONVERSIONS:
            return False
        current = following[0]
    return False


def _kept(operation: Operation, labels: Operand, number: int) -> Iterator[Candidate]:
    """The comparisons of the other labels alone."""
    source, node = operation.site.source, as_kind(operation.site.node, ast.Compare)
    if node is not None and labels.node is not None:
        whole = source.segment(node)
        new = f"({whole})[{source.segment(labels.node)} != {number}]"
        yield Candidate(message("fix.replace", old=whole, new=new), (edits.replace(source, node, new),))


RULE = Rule(FAULTS[CODE], find)

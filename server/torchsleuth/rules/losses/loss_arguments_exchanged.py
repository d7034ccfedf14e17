"""loss-arguments-exchanged: the target is given to a loss in the place of the prediction.

What it finds
    ``criterion(labels, logits)``: the second argument is what a layer has put out, and the first one is not and requires
    no gradient. For cross entropy, negative log likelihood, binary cross entropy and Poisson likelihood.
Why it hurts
    The first argument is the prediction. Cross entropy stops with an error about dtypes or shapes that says nothing of
    the order; binary cross entropy returns a number, of another loss.
Example
    loss = nn.CrossEntropyLoss()(labels, model(x))
Use instead
    loss = nn.CrossEntropyLoss()(model(x), labels)
Fix safety
    Unsafe: the two arguments are exchanged.
References
    torch.nn.CrossEntropyLoss, torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import exchanged, operand
from torchsleuth.rules.evidence.operators import EXCHANGED, is_exchanged
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span

CODE = EXCHANGED


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    failed = {id(failure.operation.site) for failure in analysis.trace.failures}
    for operation in analysis.trace.operations:
        if operation.site.span not in seen and is_exchanged(operation):
            seen.add(operation.site.span)
            yield _finding(operation, id(operation.site) in failed)


def _finding(operation: Operation, fails: bool) -> Finding:
    first, second = operand(operation, 0, "input"), operand(operation, 1, "target")
    assert first is not None and second is not None
    text = message(
        "loss.exchanged",
        loss=operation.name,
        target=first.text("the first argument"),
        prediction=second.text("the second one"),
    )
    places = tuple(call_trail(operation.site.scene, limit=1))
    named = any(isinstance(used.name, str) for used in (first, second))
    candidates = () if named else exchanged(first, second)
    return Finding(operation.site.span, text, places, candidates, "error" if fails else None)


RULE = Rule(FAULTS[CODE], find)

"""softmax-before-cross-entropy: probabilities where cross entropy wants logits.

What it finds
    A value that went through softmax, anywhere between the layer and the loss, given to CrossEntropyLoss or
    F.cross_entropy, also when the softmax is a layer of the model. log_softmax in front is idempotent and is
    reported as a hint in the message only when it is certain.
Why it hurts
    Cross entropy applies log_softmax itself. Applied to probabilities the gradients become tiny and training stalls
    without any error.
Example
    probs = F.softmax(model(x), dim=1)
    loss = F.cross_entropy(probs, y)
Use instead
    loss = F.cross_entropy(model(x), y)
Fix safety
    Safe for training; code that reads the probabilities elsewhere has to apply softmax itself.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import applied, losses, removals
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.values import Tensor

CODE = "TS303"
_TARGETS = ("torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy")
_SOFTMAX = ("softmax", "Softmax", "Softmax2d")


def find(analysis: Analysis) -> Iterator[Finding]:
    for operation, scores in losses(analysis, _TARGETS):
        if "softmax" in scores.tags:
            yield _finding(analysis, operation, scores)


def _finding(analysis: Analysis, operation: Operation, scores: Tensor) -> Finding:
    softmax = applied(analysis, scores, _SOFTMAX)
    places: list[Related] = []
    candidates: Iterator[Candidate] = iter(())
    name = "softmax"
    if softmax is not None:
        span = softmax.site.span
        places.append(span.related(message("softmax.here", softmax=name)))
        candidates = removals(analysis, softmax, name)
    places += call_trail(operation.site.scene, limit=1)
    tensor = expression_text(operand_node(operation, 0), "the input")
    text = message("softmax.cross_entropy", tensor=tensor, softmax=name)
    return Finding(operation.site.span, text, tuple(places), candidates)


RULE = Rule(FAULTS[CODE], find)

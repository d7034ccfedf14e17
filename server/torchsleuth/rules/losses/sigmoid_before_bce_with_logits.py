"""sigmoid-before-bce-with-logits: probabilities where the loss applies the sigmoid itself.

What it finds
    A value that went through sigmoid, anywhere between the layer and the loss, given to BCEWithLogitsLoss or
    F.binary_cross_entropy_with_logits, also when the sigmoid is the last layer of the model.
Why it hurts
    The loss applies the sigmoid a second time. Its input then lies between 0 and 1, so the probability it computes never
    leaves 0.5 to 0.73: gradients are small, and a confident prediction cannot be learned. No error is raised.
Example
    probability = torch.sigmoid(model(x))
    loss = F.binary_cross_entropy_with_logits(probability, y)
Use instead
    loss = F.binary_cross_entropy_with_logits(model(x), y)
Fix safety
    Safe for training; code that reads the probabilities elsewhere has to apply sigmoid itself.
References
    torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import applied, losses, removals
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related

CODE = "TS304"
_LOSSES = ("torch.nn.BCEWithLogitsLoss", "torch.nn.functional.binary_cross_entropy_with_logits")


def find(analysis: Analysis) -> Iterator[Finding]:
    for operation, scores in losses(analysis, _LOSSES):
        if "sigmoid" not in scores.tags:
            continue
        places: list[Related] = []
        candidates: Iterator[Candidate] = iter(())
        sigmoid = applied(analysis, scores, ("sigmoid", "Sigmoid", "expit"))
        if sigmoid is not None:
            span = sigmoid.site.span
            places.append(span.related(message("softmax.here", softmax="sigmoid")))
            candidates = removals(analysis, sigmoid, "sigmoid")
        places += call_trail(operation.site.scene, limit=1)
        tensor = expression_text(operand_node(operation, 0), "the input")
        text = message("sigmoid.bce_with_logits", tensor=tensor, loss=operation.name)
        yield Finding(operation.site.span, text, tuple(places), candidates)


RULE = Rule(FAULTS[CODE], find)

"""bce-on-logits: binary cross entropy of values that are not probabilities.

What it finds
    The output of a linear or convolution layer, with no sigmoid in between, given to BCELoss or F.binary_cross_entropy.
Why it hurts
    The loss wants probabilities and stops with "all elements of input should be between 0 and 1" as soon as one value
    is outside; on the accelerator, this is an assertion that takes the whole process down.
Example
    loss = nn.BCELoss()(nn.Linear(8, 1)(x), y)
Use instead
    loss = nn.BCEWithLogitsLoss()(nn.Linear(8, 1)(x), y)
Fix safety
    Safe: BCEWithLogitsLoss is sigmoid and binary cross entropy in one, in a numerically stable form.
References
    torch.nn.BCELoss, torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.marks import ACTIVATIONS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import applied, layer_places, losses, renamed, written_call
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.syntax import edits
from torchsleuth.values import Tensor

CODE = "TS306"
_STABLE = {"BCELoss": "BCEWithLogitsLoss", "binary_cross_entropy": "binary_cross_entropy_with_logits"}
_LOSSES = ("torch.nn.BCELoss", "torch.nn.functional.binary_cross_entropy")


def find(analysis: Analysis) -> Iterator[Finding]:
    for operation, scores in losses(analysis, _LOSSES):
        if "logits" in scores.tags:
            yield _finding(analysis, operation, scores)
        elif "activation" in scores.tags:
            yield _of_activation(analysis, operation, scores)


def _finding(analysis: Analysis, operation: Operation, scores: Tensor) -> Finding:
    places, layer = layer_places(analysis, scores)
    places += call_trail(operation.site.scene, limit=1)
    name, stable = operation.name, _STABLE[operation.name]
    text = message(
        "bce.logits",
        tensor=expression_text(operand_node(operation, 0), "the input"),
        layer=layer,
        loss=name,
        stable=stable,
    )
    return Finding(operation.site.span, text, tuple(places), _candidates(operation, name, stable))


def _of_activation(analysis: Analysis, operation: Operation, scores: Tensor) -> Finding:
    """The output of tanh or another activation that leaves [0, 1]: sigmoid in its place."""
    activation = applied(analysis, scores, tuple(ACTIVATIONS))
    places: list[Related] = []
    candidates: list[Candidate] = []
    old = "an activation" if activation is None else activation.name
    if activation is not None:
        span, site = activation.site.span, written_call(activation)
        places.append(span.related(message("activation.here", activation=old)))
        new = "Sigmoid" if old[0].isupper() else "sigmoid"
        edit = renamed(site, new) if site is not None else None
        if edit is not None:
            candidates.append(Candidate(message("fix.replace", old=old, new=new), (edit,)))
    places += call_trail(operation.site.scene, limit=1)
    tensor = expression_text(operand_node(operation, 0), "the input")
    text = message("bce.activation", tensor=tensor, activation=old, loss=operation.name)
    return Finding(operation.site.span, text, tuple(places), tuple(candidates))


def _candidates(operation: Operation, name: str, stable: str) -> Iterator[Candidate]:
    site = written_call(operation)
    edit = renamed(site, stable) if site is not None else None
    if edit is not None:
        yield Candidate(message("fix.replace", old=name, new=stable), (edit,))
    node = operand_node(operation, 0)
    if node is not None:
        source = operation.site.source
        around = (
            edits.insert(source, source.start_of(node), "torch.sigmoid("),
            edits.insert(source, source.end_of(node), ")"),
        )
        yield Candidate(
            message("fix.apply", function="torch.sigmoid", tensor=expression_text(node, "the input")), around
        )


RULE = Rule(FAULTS[CODE], find)

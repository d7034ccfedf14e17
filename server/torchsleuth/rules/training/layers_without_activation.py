"""layers-without-activation: a network of several layers that is a linear function.

What it finds
    A loss of what three or more linear or convolution layers make of an input with nothing between them that is not linear,
    where a layer in between is no narrower than what is around it.
Why it hurts
    Linear layers one after the other are one linear layer: the network can learn what a regression can, however many there
    are. Nothing is raised.
Example
    nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 32), nn.Linear(32, 3))
Use instead
    nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
Fix safety
    Unsafe: an activation changes what the network computes.
References
    "Build the Neural Network" in the PyTorch tutorials
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import place_in_list
from torchsleuth.rules.evidence.loops import is_trained
from torchsleuth.rules.evidence.operands import lineage, operand
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Tensor

CODE = "TS569"
_LOSSES = frozenset("cross_entropy CrossEntropyLoss mse_loss MSELoss BCEWithLogitsLoss l1_loss L1Loss".split())
_SEVERAL = 3
"""Layers of which one may say that they were meant to be more than one: two are also written for short."""
_LINEAR = frozenset({"Linear", "Conv1d", "Conv2d"})
_AFFINE = frozenset(
    "Flatten flatten view reshape squeeze unsqueeze Dropout dropout BatchNorm1d BatchNorm2d Identity".split()
)


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss in analysis.trace.operations:
        scores = operand(loss, 0, "input") if loss.name in _LOSSES else None
        layers = _layers(analysis, scores.tensor) if scores is not None else []  # the last one first
        for later, earlier in zip(layers, layers[1:]) if len(layers) >= _SEVERAL else ():
            if _is_wasted(later, earlier) and earlier.site.span not in seen and is_trained(analysis, earlier.module):
                seen.add(earlier.site.span)
                yield _finding(analysis, earlier, loss)
                break


def _layers(analysis: Analysis, scores: Tensor) -> list[Operation]:
    """The layers with weights that scores come through, the last one first; none if something between the scores and the input
    is not linear."""
    found: list[Operation] = []
    for _, operation in lineage(analysis, scores):
        if operation.name in _LINEAR and operation.module is not None:
            found.append(operation)
        elif operation.name not in _AFFINE:
            # An input may have gone through anything, a part of the network not.
            of_input = all(one.spec.requires_grad is False for one in operation.operands)
            return found if of_input else []
    return found


def _is_wasted(later: Operation, earlier: Operation) -> bool:
    """Whether a layer between two widths is no narrower than the smaller of them."""
    module, following = earlier.module, later.module
    if module is None or following is None:
        return False
    sizes = [module.given(0, ""), module.given(1, ""), following.given(1, "")]
    numbers = [size for size in sizes if is_number(size)]
    return len(numbers) == 3 and numbers[1] >= min(numbers[0], numbers[2]) and earlier.name == later.name == "Linear"


def _finding(analysis: Analysis, earlier: Operation, loss: Operation) -> Finding:
    site = earlier.module.site if earlier.module is not None and earlier.module.site is not None else earlier.site
    place = loss.site.span.related(message("linear.loss"))
    return Finding(site.span, message("linear.whole"), (place,), tuple(_activated(analysis, earlier)))


def _activated(analysis: Analysis, earlier: Operation) -> Iterator[Candidate]:
    """A rectifier behind the layer in its container."""
    place = place_in_list(analysis, earlier.module) if earlier.module is not None else None
    if place is not None:
        source, elements, index = place
        function = getattr(elements[index], "func", None)
        package = f"{source.segment(function.value)}." if is_attribute(function, "Linear") else ""
        text = f", {package}ReLU()"
        edit = edits.insert_after_node(source, elements[index], text)
        yield Candidate(message("fix.insert", text=text.removeprefix(", ")), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)

"""softmax-for-several-labels: probabilities that sum to 1, for targets of which several can be 1.

What it finds
    The output of softmax given to BCELoss with targets that are known to be drawn for each class on its own, so that a
    sample has several labels, or none.
Why it hurts
    Softmax shares one probability among the classes: where two labels are 1, neither can come near it, and where none is,
    something has to. The model learns, and badly. Nothing is raised.
Example
    probabilities = torch.softmax(model(x), dim=1)
    loss = nn.BCELoss()(probabilities, tags)
Use instead
    probabilities = torch.sigmoid(model(x))
    loss = nn.BCELoss()(probabilities, tags)
Fix safety
    Safe: each class gets a probability of its own.
References
    torch.nn.BCELoss, torch.nn.MultiLabelSoftMarginLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.marks import KEPT_BY, held
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import applied, losses
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.evidence.operands import operand, steps
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Bounds, Tensor

CODE = "TS316"
_LOSSES = ("torch.nn.BCELoss", "torch.nn.functional.binary_cross_entropy")
_SOFTMAX = ("softmax", "Softmax", "Softmax2d")
_DRAWS = frozenset("gt ge lt le greater greater_equal less less_equal randint".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    for operation, scores in losses(analysis, _LOSSES):
        target = operand(operation, 1, "target")
        if "softmax" in scores.tags and target is not None and _are_several(target.tensor):
            yield _finding(analysis, operation, scores, target.text("the target"))


def _are_several(target: Tensor) -> bool:
    """Whether each of several labels of a sample is drawn on its own."""
    around, shape = as_kind(held(target), Bounds), target.spec.shape
    if around is None or (around.low, around.high, around.anywhere) != (0, 1, True):
        return False
    if not shape or len(shape) < 2 or not is_number(shape[1]) or shape[1] < 2:
        return False
    names = (origin.bare_name for _, origin in steps(target))
    return next((name for name in names if name in _DRAWS or name not in KEPT_BY), "") in _DRAWS


def _finding(analysis: Analysis, operation: Operation, scores: Tensor, target: str) -> Finding:
    softmax = applied(analysis, scores, _SOFTMAX)
    places: list[Related] = []
    if softmax is not None:
        span = softmax.site.span
        places.append(span.related(message("softmax.here", softmax="softmax")))
    places += call_trail(operation.site.scene, limit=1)
    tensor = expression_text(operand_node(operation, 0), "the input")
    text = message("softmax.labels", tensor=tensor, target=target, loss=operation.name)
    fixes = () if softmax is None else tuple(_sigmoid(softmax))
    return Finding(operation.site.span, text, tuple(places), fixes)


def _sigmoid(softmax: Operation) -> Iterator[Candidate]:
    """A sigmoid in the place of the softmax: another layer, function or method."""
    site = softmax.site if softmax.module is None else softmax.module.site
    if site is None or not is_method_call(site.node):
        return
    source, function = site.source, site.node.func
    package = source.segment(function.value)
    if softmax.module is not None:
        new = f"{package}.Sigmoid()"
    elif softmax.target.startswith("Tensor."):
        new = f"{package}.sigmoid()"
    elif site.node.args:
        new = f"{package}.sigmoid({source.segment(site.node.args[0])})"
    else:
        return
    title = message("fix.replace", old=source.on_one_line(site.node), new=new)
    yield Candidate(title, (edits.replace(source, site.node, new),))


RULE = Rule(FAULTS[CODE], find)

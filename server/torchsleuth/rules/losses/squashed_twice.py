"""squashed-twice: a sigmoid or a softmax of what are probabilities already.

What it finds
    sigmoid() of the result of a sigmoid or softmax, and softmax() of that of a softmax, with nothing in between that changes
    the values: in a model and again where its output is used.
Why it hurts
    The sigmoid of a number from 0 to 1 is at least 0.5: compared with 0.5, every sample is positive. The softmax of
    probabilities is all but uniform, and its gradients are small. Nothing is raised.
Example
    return torch.sigmoid(self.head(x))
    ...
    predicted = torch.sigmoid(model(x)) > 0.5
Use instead
    return torch.sigmoid(self.head(x))
    ...
    predicted = model(x) > 0.5
Fix safety
    Safe: the values are probabilities already.
References
    torch.sigmoid, torch.softmax
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import removals
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import made_by, operand
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span

CODE = "TS336"
_SIGMOIDS = frozenset({"sigmoid", "Sigmoid", "sigmoid_"})
_SOFTMAXES = frozenset({"softmax", "Softmax"})
_KEEPS = frozenset("squeeze unsqueeze view reshape flatten Flatten detach cpu to float getitem contiguous".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for outer in analysis.trace.operations:
        squashes = _SIGMOIDS if outer.name in _SIGMOIDS else _SOFTMAXES if outer.name in _SOFTMAXES else frozenset()
        given = operand(outer, 0, "input", "self") if squashes else None
        inner = made_by(analysis, given.tensor, _SIGMOIDS | _SOFTMAXES, _KEEPS) if given is not None else None
        both = inner is not None and (inner.name in _SOFTMAXES or outer.name in _SIGMOIDS)
        if given is not None and inner is not None and both and outer.site.span not in seen:
            seen.add(outer.site.span)
            yield _finding(analysis, outer, inner, given.text("this"))


def _finding(analysis: Analysis, outer: Operation, inner: Operation, tensor: str) -> Finding:
    places = (
        inner.site.span.related(message("squashed.inner", name=inner.name)),
        *call_trail(outer.site.scene, limit=1),
    )
    text = message("squashed.twice", tensor=tensor, inner=inner.name, outer=outer.name)
    return Finding(outer.site.span, text, places, removals(analysis, outer, outer.name))


RULE = Rule(FAULTS[CODE], find)

"""labels-smoothed-away: a label smoothing that leaves nothing of the labels.

What it finds
    A cross entropy with a `label_smoothing` of 0.9 or more.
Why it hurts
    It is the share of the target that all classes get alike. With 1 the loss does not depend on the labels at all, and the network
    learns to give each class the same score; 0.9 is what is left for the label where 0.1 is meant.
Example
    criterion = nn.CrossEntropyLoss(label_smoothing=0.9)
Use instead
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
Fix safety
    It changes what is trained, and so it is not safe.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.syntax.forms import argument_of, is_constant

CODE = "TS343"
_LOSSES = ("torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy")
_MOST = 0.9
_POSITION = 5
"""Of the argument among those of the module; the function has two more in front."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for name in _LOSSES:
        for call in analysis.calls.get(name, ()):
            place = _POSITION + 2 * name.endswith("cross_entropy")
            value = call.given(place, "label_smoothing")
            written = argument_of(call.site.call, place, "label_smoothing") if call.site.call is not None else None
            if written is None or not isinstance(value, int | float) or not _MOST <= value <= 1:
                continue
            source = call.site.source
            text = message("smoothing.all", value=f"{value:g}", left=f"{1 - value:.0%}")
            new = f"{1 - value:.2g}" if value < 1 else "0.1"
            fixes = (replacement(source, written, new, safe=False),) if is_constant(written, int, float) else ()
            yield Finding(source.span(written), text, (), fixes)


RULE = Rule(FAULTS[CODE], find)

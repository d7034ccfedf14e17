"""everything-dropped: a dropout layer that leaves nothing.

What it finds
    A dropout layer that is written with a probability of 1: in training all of its output is zero.
Why it hurts
    No gradient passes the layer, and what stands in front of it is never trained. In other libraries the number is the
    probability to keep an element, with which 1 drops nothing.
Example
    nn.Dropout(p=1.0)
Use instead
    nn.Dropout(p=0.0)
Fix safety
    A probability of 0 is what 1 means elsewhere; it changes what is trained, and so it is not safe.
References
    torch.nn.Dropout
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of

CODE = "TS539"
_LAYERS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")


def find(analysis: Analysis) -> Iterator[Finding]:
    for name in _LAYERS:
        for call in analysis.calls.get(f"torch.nn.{name}", ()):
            written = as_kind(argument_of(call.site.call, 0, "p"), ast.Constant) if call.site.call is not None else None
            if written is not None and written.value == 1 and written.value is not True:
                source = call.site.source
                none = replacement(source, written, "0.0", safe=False)
                yield Finding(source.span(written), message("dropout.everything", layer=name), (), (none,))


RULE = Rule(FAULTS[CODE], find)

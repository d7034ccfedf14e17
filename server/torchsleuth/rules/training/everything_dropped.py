"""everything-dropped: a dropout layer that leaves nothing.

What it finds
    A dropout layer that is made with a probability of 1, by a number or a name for it: in training all of its output is zero.
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
from torchsleuth.syntax.forms import argument_of

CODE = "TS539"
_LAYERS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")


def find(analysis: Analysis) -> Iterator[Finding]:
    for name in _LAYERS:
        for call in analysis.calls.get(f"torch.nn.{name}", ()):
            written = argument_of(call.site.call, 0, "p") if call.site.call is not None else None
            value, named = call.given(0, "p"), isinstance(written, ast.Name)
            known = isinstance(written, ast.Constant) or named and call.certain and not call.loops
            if written is not None and known and type(value) in (int, float) and value == 1:
                source = call.site.source
                none = replacement(source, written, f"1 - {source.segment(written)}" if named else "0.0", safe=False)
                yield Finding(source.span(written), message("dropout.everything", layer=name), (), (none,))


RULE = Rule(FAULTS[CODE], find)

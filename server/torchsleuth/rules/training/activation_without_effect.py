"""activation-without-effect: a leaky rectifier that leaves negative values as they are.

What it finds
    `nn.LeakyReLU(True)`, where the first parameter is the slope for negative values and not `inplace`, and a slope of 1.
Why it hurts
    True is 1 as a number: the layer gives back what it gets. Without anything between them, two layers are one, and the network
    learns what a linear model can. Nothing is raised.
Example
    nn.LeakyReLU(True)
Use instead
    nn.LeakyReLU(inplace=True)
Fix safety
    Safe where True is given: nothing else can be meant.
References
    torch.nn.LeakyReLU
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of, keyword_of

CODE = "TS556"


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in analysis.calls_at_places("torch.nn.LeakyReLU"):
        written = (
            as_kind(argument_of(call.site.call, 0, "negative_slope"), ast.Constant)
            if call.site.call is not None
            else None
        )
        if written is None or written.value != 1 or isinstance(written.value, str):
            continue
        source = call.site.source
        flag = (
            written.value is True
            and call.site.call is not None
            and keyword_of(call.site.call, "negative_slope") is None
        )
        new = "inplace=True" if flag else "0.01"
        fix = replacement(source, written, new, safe=flag)
        yield Finding(call.site.span, message("slope.one", given=source.segment(written)), (), (fix,))


RULE = Rule(FAULTS[CODE], find)

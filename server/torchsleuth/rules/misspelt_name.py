"""misspelt-name: a name that torch does not have, but for a letter or its case.

What it finds
    `nn.Conv2D`, `nn.ReLu()`, `F.crossentropy`, `torch.optim.adam(…)` for a class, `x.unsqeeze(0)`; also in `from torch.nn import …`. The
    names are those of the installed PyTorch. What has been removed from it is TS801.
Why it hurts
    AttributeError or ImportError as soon as the line is reached.
Example
    layer = nn.Conv2D(3, 8, 3)
Use instead
    layer = nn.Conv2d(3, 8, 3)
Fix safety
    Safe where the names differ in their case or underscores only.
References
    https://docs.pytorch.org/docs/stable/torch.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.messages import message
from torchsleuth.rules.removed_function import is_removed
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.schema import Edit, Span
from torchsleuth.tensors.spec import plain_name

CODE = "TS821"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses("absent"):
        owner, name, near = misuse.value
        source, node = analysis.source_of(misuse.site.span.path), misuse.site.node
        if is_removed(f"{owner}.{name}"):
            continue
        if isinstance(node, ast.Attribute):
            end = source.end_of(node)
            start = replace(end, column=end.column - len(name))
        elif isinstance(node, ast.alias):
            start = source.start_of(node)
            end = replace(start, column=start.column + len(name))
        else:
            continue
        fixes = [
            Candidate(
                message("fix.replace", old=name, new=other),
                (Edit(source.path, start, end, other),),
                safe=plain_name(other) == plain_name(name),
            )
            for other in near
        ]
        text = message("absent.name", owner=owner.replace("torch.Tensor", "a tensor"), name=name, near=near[0])
        yield Finding(Span(source.path, start, end), text, (), fixes)


RULE = Rule(
    CODE,
    "misspelt-name",
    "error",
    "API",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

layer = nn.Conv2D(3, 8, 3)
#          ^^^^^^ TS821: torch.nn has no `Conv2D`: `Conv2d` is what there is
out = layer(torch.zeros(1, 3, 8, 8))
""",
            fixed="""
import torch
from torch import nn

layer = nn.Conv2d(3, 8, 3)
out = layer(torch.zeros(1, 3, 8, 8))
""",
            good="""
import torch
from torch import nn

conv = getattr(nn, "Conv2D", nn.Conv2d)
out = conv(3, 8, 3)(torch.zeros(1, 3, 8, 8))
""",
        ),
    ),
)

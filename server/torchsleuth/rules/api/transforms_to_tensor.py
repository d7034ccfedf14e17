"""transforms-to-tensor: v2.ToTensor, which the second version of torchvision's transforms keeps for old code only.

What it finds
    torchvision.transforms.v2.ToTensor, imported or called. The ToTensor of the first version is not meant.
Why it hurts
    It is deprecated: it leaves videos, boxes and masks alone, and it hides that it scales to the range from 0 to 1.
Example
    transform = v2.Compose([v2.Resize(224), v2.ToTensor()])
Use instead
    transform = v2.Compose([v2.Resize(224), v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])])
Fix safety
    Safe: the same values in the same range. The result is an Image, which is a tensor.
References
    torchvision.transforms.v2.ToImage, torchvision.transforms.v2.ToDtype
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.replacements import replaced
from torchsleuth.rules.evidence.uses import imports, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax.names import Use

CODE = "TS807"
_PATH = "torchvision.transforms.v2.ToTensor"


def find(analysis: Analysis) -> Iterator[Finding]:
    words = message("to_tensor.deprecated")
    for imported in imports(analysis, _PATH):
        yield Finding(analysis.source.span(imported.alias), words)
    for use in analysis.names.uses:
        if use.path == _PATH:
            yield Finding(analysis.source.span(use.call or use.node), words, (), _fixes(analysis, use))


def _fixes(analysis: Analysis, use: Use) -> Iterator[Candidate]:
    """Where the module of the transforms is at hand."""
    if use.call is None or use.call.args or use.call.keywords or not isinstance(use.node, ast.Attribute):
        return
    package = analysis.source.segment(use.node.value)
    dtype, imported = written(analysis, "torch.float32")
    new = f"{package}.Compose([{package}.ToImage(), {package}.ToDtype({dtype}, scale=True)])"
    yield replaced(analysis, use.call, new, imported)


RULE = Rule(FAULTS[CODE], find)

"""scores-through-last-layer: the scores of a loss went through an activation or a dropout that belongs to hidden layers.

What it finds
    Cross entropy, or binary cross entropy with logits, of what a linear layer puts out and ReLU then cut at zero, or Dropout set
    to zero at random.
Why it hurts
    No score can be negative: a class can hardly be ruled out, a probability is never below one half, and where all scores are
    cut there is no gradient. Behind Dropout, the right class has no score in one step of two. Nothing is raised.
Example
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3), nn.ReLU())
    loss = F.cross_entropy(net(x), y)
Use instead
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    loss = F.cross_entropy(net(x), y)
Fix safety
    Unsafe: the last activation goes, so that weights which were trained with it mean something else.
References
    torch.nn.CrossEntropyLoss, torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import losses, removals
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.evidence.operands import made_by
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span

CODE = "TS334"
_LOSSES = (
    *("torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy"),
    *("torch.nn.BCEWithLogitsLoss", "torch.nn.functional.binary_cross_entropy_with_logits"),
)
_CUTS = {"relu": "scores.cut", "ReLU": "scores.cut", "dropout": "scores.dropped", "Dropout": "scores.dropped"}
_SHAPES = frozenset("view reshape squeeze flatten unsqueeze contiguous transpose permute float to".split())
"""Operations after which a tensor holds the same values."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss, scores in losses(analysis, _LOSSES):
        cut = made_by(analysis, scores, _CUTS, _SHAPES)
        before = (
            made_by(analysis, cut.operands[0], ("Linear", "linear"), _SHAPES)
            if cut is not None and cut.operands
            else None
        )
        if cut is None or before is None or cut.site.span in seen:
            continue
        seen.add(cut.site.span)
        name = cut.name
        given = expression_text(operand_node(loss, 0), "the input")
        text = message(_CUTS[name], tensor=given, layer=name)
        places = (
            before.site.span.related(message("scores.layer")),
            loss.site.span.related(message("scores.loss")),
            *call_trail(cut.site.scene, limit=1),
        )
        fixes = (replace(candidate, safe=False) for candidate in removals(analysis, cut, name))
        yield Finding(cut.site.span, text, places, fixes)


RULE = Rule(FAULTS[CODE], find)

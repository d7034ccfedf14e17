"""overlap-minimised: the overlap of two masks is the loss, and not what is missing from it.

What it finds
    backward() of the ratio of a Dice or Jaccard coefficient (the sum of products over the sum of sums), alone or as a term of
    a sum, without `1 - …` or a sign.
Why it hurts
    A step makes a loss smaller, so that the model learns to predict everything but the mask. Nothing is raised.
Example
    loss = 2 * (p * mask).sum() / (p.sum() + mask.sum())
Use instead
    loss = 1 - 2 * (p * mask).sum() / (p.sum() + mask.sum())
Fix safety
    Safe: the loss is what is missing from an overlap of 1.
References
    "V-Net" (Milletari et al.), section 3
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.loops import caller_of
from torchsleuth.rules.evidence.operands import replaced
from torchsleuth.rules.evidence.overlaps import overlap
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.values import Tensor

CODE = "TS339"
_ADDS = frozenset("add iadd mean sum stack".split())
_MAX_STEPS = 60


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for event in analysis.events("backward"):
        for term in _terms(analysis, event.tensor):
            if term.site.span not in seen and overlap(term) is not None:
                seen.add(term.site.span)
                yield _finding(term, event)


def _terms(analysis: Analysis, loss: Tensor | None) -> Iterator[Operation]:
    """The quotients that are terms of a loss, with no other sign."""
    pending = [loss] if loss is not None else []
    for _ in range(_MAX_STEPS):
        operation = analysis.operation_of(pending.pop().origin) if pending else None
        if operation is not None and operation.name in ("div", "truediv"):
            yield operation
        elif operation is not None and operation.name in _ADDS:
            pending += operation.operands


def _finding(term: Operation, backward: Event) -> Finding:
    places = (
        backward.site.span.related(message("overlap.backward")),
        *call_trail(term.site.scene, limit=1),
    )
    return Finding(term.site.span, message("overlap.minimised"), places, tuple(_missing(term)))


def _missing(term: Operation) -> Iterator[Candidate]:
    """``1 - …`` at the call that gives the overlap, since it may be printed as well, or where it is computed."""
    call = caller_of(term.site)
    for site in (call, term.site) if call is not None else (term.site,):
        node = as_kind(site.node, ast.expr)
        if node is not None:
            text = site.source.segment(node)
            yield replaced(site, node, f"1 - {text}")


RULE = Rule(FAULTS[CODE], find)

"""ratio-of-one: the probability of an action divided by itself.

What it finds
    `exp(new - old)` of two logarithms that are computed alike, one after the other, by the same network in the same state.
Why it hurts
    The old probabilities are those of the policy that acted. Computed anew in each step, they are the new ones: the ratio is
    always 1, nothing is ever clipped, and with a graph on both sides, all gradients are 0. Nothing is raised.
Example
    for epoch in range(4):
        new = dist(states).log_prob(actions)
        old = dist(states).log_prob(actions)
        ratio = torch.exp(new - old)
Use instead
    old = dist(states).log_prob(actions).detach()
    for epoch in range(4):
        new = dist(states).log_prob(actions)
        ratio = torch.exp(new - old)
Fix safety
    Safe: the old probabilities are kept before the loop.
References
    "Proximal Policy Optimization Algorithms" (Schulman et al.), section 3
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_alone
from torchsleuth.rules.evidence.operands import made_by, operands
from torchsleuth.rules.evidence.twins import bound_alike
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits

CODE = "TS341"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for power in analysis.trace.operations:
        difference = (
            made_by(analysis, power.operands[0], ("sub",), ()) if power.name == "exp" and power.operands else None
        )
        if difference is None or len(difference.operands) != 2 or difference.site.span in seen:
            continue
        one, other = difference.operands
        bound = bound_alike(analysis, one, other)
        if bound is not None and one.spec.requires_grad is True:
            seen.add(difference.site.span)
            yield _finding(analysis, difference, bound[1])


def _finding(analysis: Analysis, difference: Operation, old: ast.Assign) -> Finding:
    source = difference.site.source
    first, second = operands(difference)
    place = source.span(old).related(message("ratio.old"))
    text = message("ratio.of_one", new=first.text("the new one"), old=second.text("the old one"))
    return Finding(difference.site.span, text, (place,), tuple(_kept(analysis, difference, old)))


def _kept(analysis: Analysis, difference: Operation, old: ast.Assign) -> Iterator[Candidate]:
    """The old ones computed before the loops around them, the nearest last."""
    path = difference.site.span.path
    if is_alone(old, analysis, path):
        source = analysis.source_of(path)
        text = f"{source.segment(old)}.detach()"
        for loop in reversed(of_kind(analysis.trail(path, old), ast.For, ast.While)):
            title = message("fix.move_before", text=text, line=loop.lineno)
            changes = (edits.insert_line_before(source, loop, text), edits.remove_line(source, old.lineno))
            yield Candidate(title, changes)


RULE = Rule(FAULTS[CODE], find)

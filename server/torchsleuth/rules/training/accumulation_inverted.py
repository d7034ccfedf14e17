"""accumulation-inverted: an optimizer that steps in all iterations but those in which the gradients are complete.

What it finds
    step() under `if (i + 1) % k:`, or `if i % k != 0:`, where the loss is divided by k.
Why it hurts
    The condition holds in k - 1 of k iterations. Nearly every batch makes a step of its own, with a loss that was divided for k
    of them: the learning rate is a k-th of what it is set to.
Example
    (loss / 4).backward()
    if (i + 1) % 4:
        optimizer.step()
        optimizer.zero_grad()
Use instead
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
Fix safety
    Safe: the condition is turned around.
References
    torch.amp, "Gradient accumulation"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.evidence.schedules import remainder_left
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax.forms import nodes_in

CODE = "TS575"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for step in analysis.events("step"):
        statement = statement_of(analysis, step.site) if step.loops and step.site.span not in seen else None
        if statement is None:
            continue
        seen.add(step.site.span)
        around = analysis.trail(step.site.span.path, statement)[:-1]
        branch, loop = as_kind(around[-1], ast.If), first_of(reversed(around), ast.For, ast.While)
        remainder = remainder_left(branch.test) if branch is not None and statement in branch.body else None
        if branch is None or remainder is None or loop is None or branch.orelse:
            continue
        times = next((one for one in _divisors(loop) if ast.dump(one) == ast.dump(remainder.right)), None)
        if times is not None:
            source = step.site.source
            text = message(
                "accumulate.inverted", test=source.segment(branch.test), times=source.segment(remainder.right)
            )
            places = (source.span(times).related(message("accumulate.divided")),)
            fix = replacement(source, branch.test, f"{source.segment(remainder)} == 0")
            yield Finding(source.span(branch.test), text, places, (fix,))


def _divisors(loop: ast.AST) -> Iterator[ast.expr]:
    """What a loss may be divided by in a loop."""
    for part in nodes_in(loop, ast.BinOp):
        if isinstance(part.op, ast.Div):
            yield part.right
    for change in nodes_in(loop, ast.AugAssign):
        if isinstance(change.op, ast.Div):
            yield change.value


RULE = Rule(FAULTS[CODE], find)

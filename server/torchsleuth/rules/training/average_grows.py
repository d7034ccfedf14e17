"""average-grows: the weights of a moving average that are not 1 together.

What it finds
    `average.mul_(c).add_(trained)`, or `c * average + d * trained` with c + d other than 1, in a loop over the parameters of
    two networks of which one is trained.
Why it hurts
    With 0.999 and 1, the average grows to a thousand times the weights; with less than 1 together, it fades. The network that
    is evaluated, or bootstrapped from, is rubbish. Nothing is raised.
Example
    for a, p in zip(average.parameters(), network.parameters()):
        a.mul_(0.999).add_(p)
Use instead
    for a, p in zip(average.parameters(), network.parameters()):
        a.mul_(0.999).add_(p, alpha=1 - 0.999)
Fix safety
    Safe: the new weights get the share that is left.
References
    torch.optim.swa_utils.AveragedModel, torch.Tensor.lerp_
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.moving import Average, moving_averages
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement

CODE = "TS568"
_MOSTLY = 0.5
_EXACT = 1e-6


def find(analysis: Analysis) -> Iterator[Finding]:
    for average in moving_averages(analysis):
        total = average.kept + average.share
        if _MOSTLY < average.kept < 1 and abs(total - 1) > _EXACT:
            word = "grows" if total > 1 else "fades"
            text = message("average.total", **average.names, total=f"{total:.6g}", word=word)
            place = average.source.span(average.loop.iter).related(message("average.over"))
            yield Finding(average.source.span(average.statement), text, (place,), tuple(_share(average)))


def _share(average: Average) -> Iterator[Candidate]:
    """The rest of 1 as the factor of the new weights."""
    source = average.source
    rest = f"1 - {source.segment(average.weight)}"
    if average.added is not None and average.rest not in ast.walk(average.added):
        yield added_argument(source, average.added, f"alpha={rest}")
    else:
        named = average.added is not None and any(part.arg == "alpha" for part in average.added.keywords)
        yield replacement(source, average.rest, rest if named else f"({rest})")


RULE = Rule(FAULTS[CODE], find)

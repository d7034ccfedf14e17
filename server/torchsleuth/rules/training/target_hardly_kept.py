"""target-hardly-kept: a moving average that keeps next to nothing of what it was.

What it finds
    `target.copy_(c * target + (1 - c) * trained)` in a loop over the parameters of two networks of one kind, with c below 0.05:
    the weights of the average are exchanged.
Why it hurts
    The target network, or the average of the weights, was to follow slowly; it is all but a copy after each step. Bootstrapped
    values chase themselves, an average averages nothing. Nothing is raised.
Example
    for p, t in zip(network.parameters(), target.parameters()):
        t.data.copy_(0.005 * t.data + 0.995 * p.data)
Use instead
    for p, t in zip(network.parameters(), target.parameters()):
        t.data.copy_(0.005 * p.data + 0.995 * t.data)
Fix safety
    Safe: the two change places.
References
    torch.Tensor.copy_, torch.optim.swa_utils.AveragedModel
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.moving import Average, moving_averages
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS545"
_LITTLE = 0.05


def find(analysis: Analysis) -> Iterator[Finding]:
    for average in moving_averages(analysis):
        if average.added is None and 0 < average.kept < _LITTLE and abs(average.kept + average.share - 1) <= 1e-6:
            yield _finding(average)


def _finding(average: Average) -> Finding:
    source, names = average.source, average.names
    swap = (
        edits.replace(source, average.own, source.segment(average.new)),
        edits.replace(source, average.new, source.segment(average.own)),
    )
    fix = Candidate(message("fix.exchange", left=names["own"], right=names["new"]), swap)
    places = (source.span(average.loop.iter).related(message("average.over")),)
    text = message("average.share", **names, share=f"{100 * average.kept:.3g} %")
    return Finding(source.span(average.statement), text, places, (fix,))


RULE = Rule(FAULTS[CODE], find)

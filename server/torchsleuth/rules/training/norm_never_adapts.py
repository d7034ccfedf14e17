"""norm-never-adapts: a batch norm that never learns the statistics which evaluation uses.

What it finds
    A batch norm that is made with `momentum=0`, in a program that loads no weights into it.
Why it hurts
    In PyTorch momentum is the weight of the new batch: with 0 the running mean stays 0 and the variance 1. Training looks
    well, and in evaluation the layer scales by what it was made with. Other libraries give the weight of what was before.
Example
    nn.BatchNorm1d(64, momentum=0.0)
Use instead
    nn.BatchNorm1d(64, momentum=0.1)
Fix safety
    It changes what is computed in evaluation, and so it is not safe.
References
    torch.nn.BatchNorm1d
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.norms import BATCH_NORMS
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.syntax.forms import argument_of, is_constant

CODE = "TS573"
_POSITION = 2


def find(analysis: Analysis) -> Iterator[Finding]:
    if analysis.calls_at_places("load_state_dict"):
        return
    for name in BATCH_NORMS:
        for call in analysis.calls.get(f"torch.nn.{name}", ()):
            node, value = call.site.call, call.given(_POSITION, "momentum")
            written = argument_of(node, _POSITION, "momentum") if node is not None else None
            adapts = value is None or isinstance(value, bool) or not isinstance(value, int | float) or value != 0
            if written is None or adapts or call.given(4, "track_running_stats", True) is not True:
                continue
            source = call.site.source
            fixes = (replacement(source, written, "0.1", safe=False),) if is_constant(written, int, float) else ()
            yield Finding(source.span(written), message("norm.never_adapts", norm=name), (), fixes)


RULE = Rule(FAULTS[CODE], find)

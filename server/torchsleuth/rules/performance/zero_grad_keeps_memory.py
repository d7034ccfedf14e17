"""zero-grad-keeps-memory: gradients are filled with zeros instead of being let go.

What it finds
    zero_grad(set_to_none=False), of an optimizer or a module. Off unless it is selected.
Why it hurts
    The gradients of the last step stay in memory during the forward pass, and are written twice: with zeros, then by an
    addition. Without them, backward() writes them once.
Example
    optimizer.zero_grad(set_to_none=False)
Use instead
    optimizer.zero_grad()
Fix safety
    Unsafe: parameters without a gradient are skipped by the optimizer then, where zeros would still be followed by
    momentum and weight decay.
References
    torch.optim.Optimizer.zero_grad
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_literal, is_method_call

CODE = "TS706"


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    for node in analysis.index(source.path).nodes:
        if not (is_method_call(node, "zero_grad")):
            continue
        for keyword in node.keywords:
            if keyword.arg == "set_to_none" and is_literal(keyword.value, False):
                title = message("fix.remove", text=source.segment(keyword))
                fix = Candidate(title, (edits.remove_keyword(source, node, keyword),), safe=False)
                yield Finding(source.span(node), message("zero_grad.memory"), (), (fix,))


RULE = Rule(FAULTS[CODE], find)

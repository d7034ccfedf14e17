"""checkpoint-use-reentrant: activation checkpointing that does not say which of its two ways it takes.

What it finds
    torch.utils.checkpoint.checkpoint or checkpoint_sequential without use_reentrant.
Why it hurts
    The default is the old, reentrant way, which ignores inputs in containers, needs an input that requires grad, and
    does not work with torch.autograd.grad; PyTorch warns at each call and is going to require the argument.
Example
    x = checkpoint(self.block, x)
Use instead
    x = checkpoint(self.block, x, use_reentrant=False)
Fix safety
    Safe: the other way computes the same gradients, and is the one that PyTorch recommends.
References
    torch.utils.checkpoint.checkpoint
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import calls, text
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument
from torchsleuth.syntax.forms import argument_of

CODE = "TS804"
_FUNCTIONS = ("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")


def find(analysis: Analysis) -> Iterator[Finding]:
    for use, call in calls(analysis, *_FUNCTIONS):
        if argument_of(call, None, "use_reentrant") is not None:
            continue
        words, span = message("checkpoint.reentrant", call=text(analysis, use.node)), analysis.source.span(call)
        # What `**options` holds may be just this.
        exact = all(keyword.arg is not None for keyword in call.keywords)
        fix = added_argument(analysis.source, call, "use_reentrant=False", exact)
        yield Finding(span, words, (), (fix,), None if exact else "hint")


RULE = Rule(FAULTS[CODE], find)

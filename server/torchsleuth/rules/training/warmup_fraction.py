"""warmup-fraction: a schedule of transformers that is told a part of the training where it takes a number of steps.

What it finds
    `num_warmup_steps=0.1` of `get_linear_schedule_with_warmup` and its like: it counts steps.
Why it hurts
    The first step has the full learning rate already: there is no warm-up at all, and nothing is raised.
Example
    get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=0.1, num_training_steps=steps)
Use instead
    get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=int(0.1 * steps), num_training_steps=steps)
Fix safety
    Safe: a tenth of a step is no warm-up.
References
    transformers.get_cosine_schedule_with_warmup
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import WITH_WARMUP
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.syntax.forms import argument_of

CODE = "TS597"


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in analysis.calls_at_places(*WITH_WARMUP):
        node, part = call.site.call, call.given(1, "num_warmup_steps")
        written = argument_of(node, 1, "num_warmup_steps") if node is not None else None
        if node is None or written is None or not isinstance(part, float) or not 0 < part < 1:
            continue
        source, whole = call.site.source, argument_of(node, 2, "num_training_steps")
        text = source.segment(whole) if whole is not None else ""
        fixes = [replacement(source, written, f"int({source.segment(written)} * {text})")] if text else []
        yield Finding(source.span(written), message("warmup.fraction", part=f"{part:g}"), (), fixes)


RULE = Rule(FAULTS[CODE], find)

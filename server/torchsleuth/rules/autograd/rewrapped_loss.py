"""rewrapped-loss: a new tensor made from the numbers of a loss.

What it finds
    torch.tensor(loss), torch.tensor(loss.item()), torch.tensor([l1, l2]) and their like between the model and
    backward(), also with requires_grad=True, and also for one of several terms of the loss.
Why it hurts
    torch.tensor copies numbers. The copy has no history: backward() either raises "does not require grad", or, with
    requires_grad=True, runs and gives no parameter a gradient, so that the model silently never learns.
Example
    loss = torch.tensor(criterion(model(x), y), requires_grad=True)
    loss.backward()
Use instead
    loss = criterion(model(x), y)
    loss.backward()
Fix safety
    Safe: backward() is called on the value, so its history is wanted.
References
    torch.tensor, torch.stack
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import faults, gradient_is_used, name_of, text_of, uncut
from torchsleuth.rules.evidence.rewrites import as_tensors
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Severity
from torchsleuth.sifting import of_kind
from torchsleuth.values import Tensor

CODE = "TS402"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "no_graph", "severed", "severed_part"):
        cut = fault.cut
        if cut is not None and cut.kind == "rewrapped" and not gradient_is_used(analysis, fault):
            key = "grad.rewrapped.part" if fault.kind == "severed_part" else "grad.rewrapped"
            text = message(key, call=f"`{text_of(cut.site)}`", tensor=name_of(fault))
            places = (fault.at.span.related(message("grad.backward")),)
            repairs = chain(uncut(analysis, cut), as_tensors(analysis, fault))
            severity: Severity | None = None if fault.kind == "no_graph" else "warning"  # backward() runs.
            yield Finding(cut.site.span, text, places, repairs, severity=severity)
    yield from _alone(analysis)


def _alone(analysis: Analysis) -> Iterator[Finding]:
    """backward() of a tensor that was just made of numbers, where an optimizer is to train something else with it."""
    trained = [part for optimizer in analysis.trace.optimizers for part in trained_parts(optimizer)]
    if (
        not analysis.events("step")
        or analysis.events("grad_touched")
        or not all(one.parameter for one in of_kind(trained, Tensor))
    ):
        return
    for fault in faults(analysis, "alone"):
        made = fault.tensor.origin.site
        if fault.at.span.path == made.span.path and made.scene.function is fault.at.scene.function:
            text = message("grad.rewrapped", call=f"`{text_of(made)}`", tensor=name_of(fault))
            places = (fault.at.span.related(message("grad.backward")),)
            yield Finding(made.span, text, places, severity="warning")


RULE = Rule(FAULTS[CODE], find)

"""missing-backward: an optimizer that steps without gradients.

What it finds
    A training loop that computes a loss and calls optimizer.step() in every iteration, with no backward() between.
Why it hurts
    step() skips parameters without a gradient. The loop runs, the loss is printed, and nothing is learnt.
Example
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        optimizer.step()
Use instead
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
Fix safety
    Safe: without backward() the step does nothing.
References
    torch.Tensor.backward, torch.optim.Optimizer.step
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Event
from torchsleuth.interp.values import Tensor
from torchsleuth.messages import message
from torchsleuth.rules.loops import is_simple, receiver_text, same_iteration, statement_of, trained_by, unseen, within
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule, related
from torchsleuth.syntax import edits

CODE = "TS502"
_BY_HAND = ("torch.autograd.backward", "torch.autograd.grad", "torch.func.grad", "torch.func.grad_and_value")


def find(analysis: Analysis) -> Iterator[Finding]:
    trace = analysis.trace
    if any(event.kind == "grad_touched" for event in trace.events) or any(c.path in _BY_HAND for c in trace.calls):
        return
    if unseen(analysis, "backward", "backward"):
        return
    for optimizer in trace.optimizers:
        steps = [event for event in trace.events if event.kind == "step" and event.subject is optimizer]
        if optimizer.identity in trace.escaped or not all(step.certain for step in steps):
            continue
        for first, second in zip(steps, steps[1:]):
            forward = _unused(analysis, first, second)
            if forward is not None:
                yield _finding(analysis, forward, second)
                break


def _unused(analysis: Analysis, first: Event, second: Event) -> Event | None:
    """The last forward between two steps of one loop, if nothing goes backward there or ever takes its graph."""
    if not first.loops or not second.loops or not within(second, first.loops[-1]):
        return None
    between = analysis.trace.events[first.index : second.index]
    if any(event.kind in ("backward", "scaler_step") for event in between):
        return None
    forwards = [
        event
        for event in between
        if event.kind == "forward" and event.grad and event.certain and trained_by(second.subject, event.subject)
    ]
    recorded = [e for e in forwards if e.tensor is not None and e.tensor.spec.requires_grad is True]
    if not recorded or any(event.forward_id in analysis.trace.consumed for event in recorded):
        return None
    return recorded[-1]


def _finding(analysis: Analysis, forward: Event, step: Event) -> Finding:
    name = receiver_text(analysis, step.site) or "the optimizer"
    source = analysis.source_of(forward.site.span.path)
    places = (related(source, forward.site.node, message("backward.missing.forward")),)
    loss = _loss_name(forward, step)
    text = message("backward.missing", optimizer=f"`{name}`", loss=f"`{loss}`" if loss else "the loss")
    return Finding(step.site.span, text, places, tuple(_inserted(analysis, forward, step, loss)))


def _loss_name(forward: Event, step: Event) -> str | None:
    """The scalar in the scope of the step that carries the graph of the forward."""
    found = [
        str(name)
        for name, value in step.site.frame.names.items()
        if isinstance(value, Tensor) and value.spec.shape == () and value.slots["history"]
    ]
    named = [name for name in found if "loss" in name.lower()] or found
    return named[-1] if named else None


def _inserted(analysis: Analysis, forward: Event, step: Event, loss: str | None) -> Iterator[Candidate]:
    """``loss.backward()`` before what reads the gradients: a clipping, or the step."""
    readers = [
        event
        for event in analysis.trace.events[forward.index : step.index + 1]
        if event.kind in ("clip", "step") and same_iteration(step, event)
    ]
    statement = statement_of(analysis, readers[0].site)
    if loss is None or statement is None or not isinstance(statement, ast.Expr):
        return
    if readers[0].site.frame.function is step.site.frame.function and is_simple(
        statement, analysis, step.site.span.path
    ):
        source = analysis.source_of(readers[0].site.span.path)
        text = f"{loss}.backward()"
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_before(source, statement, text),))


RULE = Rule(
    CODE,
    "missing-backward",
    "warning",
    "training loop",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    optimizer.zero_grad()
    optimizer.step()
#   ^^^^^^^^^^^^^^^^ TS502: `optimizer` steps without gradients: `loss` never goes backward
""",
            fixed="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    for p, g in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
        p.grad = g
    optimizer.step()
""",
        ),
    ),
)

"""missing-step: gradients are computed, and no optimizer ever uses them.

What it finds
    A training loop with an optimizer and a backward() in every iteration, in which that optimizer never steps.
Why it hurts
    The loop runs, takes its time, and no parameter changes.
Example
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
Use instead
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
Fix safety
    Safe: an optimizer that never steps has no other use.
References
    torch.optim.Optimizer.step
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Event
from torchsleuth.interp.values import LibraryObject
from torchsleuth.messages import message
from torchsleuth.rules.loops import (
    is_simple,
    modules_of,
    name_in,
    receiver_text,
    same_iteration,
    statement_of,
    trained_by,
    unseen,
)
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule, related
from torchsleuth.schema import Related
from torchsleuth.syntax import edits

CODE = "TS503"


def find(analysis: Analysis) -> Iterator[Finding]:
    trace = analysis.trace
    if any(event.kind == "grad_touched" for event in trace.events):
        return
    if unseen(analysis, "step", "step", "scheduler_step", "scaler_step"):
        return
    stepped = [event.subject for event in trace.events if event.kind == "step"]
    for optimizer in trace.optimizers:
        if optimizer.identity in trace.escaped or not modules_of(optimizer):
            continue
        if any(other is optimizer for other in stepped):
            continue
        modules = [event for event in trace.events if event.kind == "forward" and trained_by(optimizer, event.subject)]
        if any(trained_by(other, event.subject) for other in stepped for event in modules):
            continue
        backward = _repeated(trace.events, modules)
        if backward is not None:
            yield _finding(analysis, optimizer, backward)


def _repeated(events: list[Event], forwards: list[Event]) -> Event | None:
    """A backward() of the trained module that happens in a loop, whatever the conditions."""
    ids = {event.forward_id for event in forwards}
    for event in events:
        if event.kind == "backward" and event.certain and event.loops and event.tensor is not None:
            if ids & event.tensor.slots["history"]:
                return event
    return None


def _finding(analysis: Analysis, optimizer: LibraryObject, backward: Event) -> Finding:
    events = analysis.trace.events
    cleared = [event for event in events if event.kind == "zero_grad" and event.subject is optimizer]
    frame = backward.site.frame
    name = next((receiver_text(analysis, e.site) for e in cleared if e.site.frame.function is frame.function), None)
    name = name or name_in(frame, optimizer)
    places: tuple[Related, ...] = ()
    if optimizer.site is not None:
        source = analysis.source_of(optimizer.site.span.path)
        places = (related(source, optimizer.site.node, message("step.missing.optimizer")),)
    text = message("step.missing", optimizer=f"`{name}`" if name else f"the {optimizer.type_name} optimizer")
    return Finding(backward.site.span, text, places, tuple(_inserted(analysis, backward, name)))


def _inserted(analysis: Analysis, backward: Event, name: str | None) -> Iterator[Candidate]:
    """``optimizer.step()`` after the last thing that is done to the gradients."""
    after = [
        event
        for event in analysis.trace.events[backward.index :]
        if event.kind in ("backward", "clip", "unscale")
        and same_iteration(backward, event)
        and event.site.frame is backward.site.frame
    ]
    statement = statement_of(analysis, after[-1].site)
    path = backward.site.span.path
    if name is not None and isinstance(statement, ast.Expr | ast.Assign) and is_simple(statement, analysis, path):
        text = f"{name}.step()"
        edit = edits.insert_line_after(analysis.source_of(path), statement, text)
        yield Candidate(message("fix.insert", text=text), (edit,))


RULE = Rule(
    CODE,
    "missing-step",
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
    loss.backward()
#   ^^^^^^^^^^^^^^^ TS503: `optimizer` never steps
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    print(loss.item())
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
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(loss.item())
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    optimizer.zero_grad()
    loss.backward()
    if loss.isfinite():
        optimizer.step()
""",
        ),
    ),
)

"""grad-scaler-order: a GradScaler of which one part is missing.

What it finds
    backward() of a scaled loss followed by optimizer.step() instead of scaler.step(optimizer); scaler.step() without
    scaler.update() anywhere; scaler.step() although the loss was never scaled.
Why it hurts
    The optimizer steps with gradients 65536 times too large, or the scale is never adapted and one overflow after the
    other is skipped.
Example
    scaler.scale(loss).backward()
    optimizer.step()
Use instead
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
Fix safety
    Safe: the three calls belong together.
References
    torch.amp.GradScaler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.loops import is_simple, receiver_text, same_iteration, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule, related
from torchsleuth.syntax import edits

CODE = "TS515"


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    reported: set[object] = set()
    for finding in (
        *_unscaled_steps(analysis, events),
        *_unscaled_losses(analysis, events),
        *_no_update(analysis, events),
    ):
        if finding.at not in reported:
            reported.add(finding.at)
            yield finding


def _unscaled_steps(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """optimizer.step() right after the backward() of a scaled loss."""
    for step in events:
        if step.kind != "step" or not step.certain:
            continue
        earlier = [event for event in events[: step.index] if same_iteration(step, event)]
        last = next(
            (event for event in reversed(earlier) if event.kind in ("backward", "scaler_step", "unscale", "step")), None
        )
        if last is None or last.kind != "backward" or not last.certain:
            continue
        scale = next(
            (event for event in reversed(events[: last.index]) if event.kind in ("scale", "backward", "forward")), None
        )
        if scale is None or scale.kind != "scale" or not _holds(last, scale):
            continue
        scaler = receiver_text(analysis, scale.site)
        optimizer = receiver_text(analysis, step.site)
        source = analysis.source_of(scale.site.span.path)
        places = (related(source, scale.site.node, message("scaler.scaled")),)
        candidates: list[Candidate] = []
        statement = statement_of(analysis, step.site)
        if (
            scaler
            and optimizer
            and isinstance(statement, ast.Expr)
            and is_simple(statement, analysis, step.site.span.path)
        ):
            here = analysis.source_of(step.site.span.path)
            text = f"{scaler}.step({optimizer})"
            changes = [edits.replace(here, statement, text)]
            if not any(event.kind == "scaler_update" for event in events):
                changes.append(edits.insert_line_after(here, statement, f"{scaler}.update()"))
            title = message("fix.replace", old=here.segment(statement), new=text)
            candidates = [Candidate(title, tuple(changes))]
        text = message("scaler.step", optimizer=f"`{optimizer}`", scaler=f"`{scaler}`")
        yield Finding(step.site.span, text, places, tuple(candidates))


def _holds(backward: Event, scale: Event) -> bool:
    """Whether backward() is called on what scale() gave: ``scaler.scale(loss).backward()``, or a name for it."""
    node = backward.site.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    receiver = node.func.value
    if isinstance(receiver, ast.Call):
        return (receiver.lineno, receiver.col_offset) == (scale.site.node.lineno, scale.site.node.col_offset)  # type: ignore[attr-defined]
    return isinstance(receiver, ast.Name) and "scale" in receiver.id


def _unscaled_losses(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """scaler.step() in a script in which no loss is ever scaled by that scaler."""
    for step in events:
        if step.kind != "scaler_step" or not step.certain or step.subject.identity in analysis.trace.escaped:
            continue
        if any(event.kind == "scale" and event.subject is step.subject for event in events):
            continue
        backward = next((e for e in reversed(events[: step.index]) if e.kind == "backward"), None)
        scaler = receiver_text(analysis, step.site)
        if backward is None or backward.tensor is None or scaler is None:
            continue
        candidates: list[Candidate] = []
        node = backward.site.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            source = analysis.source_of(backward.site.span.path)
            text = f"{scaler}.scale({source.segment(node.func.value)})"
            title = message("fix.replace", old=source.segment(node.func.value), new=text)
            candidates = [Candidate(title, (edits.replace(source, node.func.value, text),))]
        yield Finding(backward.site.span, message("scaler.unscaled", scaler=f"`{scaler}`"), (), tuple(candidates))


def _no_update(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """scaler.step() in a loop, and no update() of that scaler anywhere."""
    for step in events:
        if step.kind != "scaler_step" or not step.loops or step.subject.identity in analysis.trace.escaped:
            continue
        if any(event.kind == "scaler_update" and event.subject is step.subject for event in events):
            continue
        scaler = receiver_text(analysis, step.site)
        statement = statement_of(analysis, step.site)
        candidates: list[Candidate] = []
        path = step.site.span.path
        if scaler and isinstance(statement, ast.Expr) and is_simple(statement, analysis, path):
            edit = edits.insert_line_after(analysis.source_of(path), statement, f"{scaler}.update()")
            candidates = [Candidate(message("fix.insert", text=f"{scaler}.update()"), (edit,))]
        yield Finding(step.site.span, message("scaler.update", scaler=f"`{scaler}`"), (), tuple(candidates))


RULE = Rule(
    CODE,
    "grad-scaler-order",
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
scaler = torch.amp.GradScaler("cuda")
for x, y in [(torch.randn(8, 4), torch.randn(8, 1))] * 4:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    optimizer.step()
#   ^^^^^^^^^^^^^^^^ TS515: `optimizer` steps with gradients that are still multiplied by the scale of `scaler`
    scaler.update()
""",
            fixed="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in [(torch.randn(8, 4), torch.randn(8, 1))] * 4:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in [(torch.randn(8, 4), torch.randn(8, 1))] * 4:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
        ),
    ),
)

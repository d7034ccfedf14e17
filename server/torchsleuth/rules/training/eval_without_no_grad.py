"""eval-without-no-grad: an evaluation loop that records a graph.

What it finds
    A loop that calls a model while autograd records, although no backward() ever uses the result: the model is in
    evaluation mode, or the script trains it elsewhere and the loop runs over a DataLoader without training.
Why it hurts
    Every activation is kept for a backward pass that never comes: evaluation takes two to three times the memory,
    and runs out of it first.
Example
    model.eval()
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
Use instead
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
Fix safety
    Safe: the loop is wrapped and indented; its values do not change.
References
    torch.no_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import callers_may_stop_recording
from torchsleuth.rules.evidence.loops import (
    called_text,
    caller_of,
    is_simple,
    is_used,
    statement_of,
    trained_by,
    within,
)
from torchsleuth.rules.evidence.modules import named
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related, Severity
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.trees import index
from torchsleuth.values import Site

CODE = "TS506"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[ast.stmt] = set()
    for event in analysis.trace.events:
        point = _wasteful(analysis, event)
        loop = statement_of(analysis, event.site.scene.site(point.node)) if point is not None else None
        if point is not None and loop is not None and loop not in reported:
            reported.add(loop)
            yield _finding(analysis, event, loop, point)


def _wasteful(analysis: Analysis, event: Event) -> LoopPoint | None:
    """The loop around a forward whose recorded graph nothing uses."""
    tensor = event.tensor
    if event.kind != "forward" or not event.grad or tensor is None or tensor.spec.requires_grad is not True:
        return None
    point = next((point for point in reversed(event.loops) if _contains(point, event)), None)
    if point is None or event.forward_id in analysis.trace.consumed:
        return None
    if event.training is not False and not _evaluates(analysis, event, point):
        return None
    # Any other model trained in the same loop makes it a training loop.
    trained = any(within(other, point) for other in analysis.events("backward"))
    # A graph that backward() was meant to run through is not wasted, but cut.
    cuts = [fault.cut for fault in analysis.trace.autograd if fault.cut is not None]
    sites = [cut.site for first in cuts for cut in (first, first.before) if cut is not None]
    cut = any(site.node in index(point.node).parents for site in sites)
    return None if trained or cut else point


def _contains(point: LoopPoint, event: Event) -> bool:
    """Whether a loop is written around a call, or around the call of the function that it stands in."""
    site = _site_in(point, event)
    function = site.scene.function if site is not None else None
    return site is not None and (function is None or point.node in index(function.node).parents)


def _site_in(point: LoopPoint, event: Event) -> Site | None:
    """The call in a loop that is, or that leads to, the forward."""
    site: Site | None = event.site
    while site is not None and not (point.span.path == site.span.path and site.node in index(point.node).parents):
        site = caller_of(site)
    return site


def _evaluates(analysis: Analysis, event: Event, point: LoopPoint) -> bool:
    """Whether a forward in training mode evaluates: the script trains the module, but not in this loop."""
    steps = [other for other in analysis.events("step")]
    if event.training is not True or not point.over_loader or any(within(step, point) for step in steps):
        return False
    used = is_used(analysis, event)
    return used and any(step.certain and trained_by(step.subject, event.subject) for step in steps)


def _finding(analysis: Analysis, event: Event, loop: ast.stmt, point: LoopPoint) -> Finding:
    name, path = called_text(event), point.span.path
    text = message("no_grad.missing", module=f"`{name}`" if name else "the model")
    site, places = _site_in(point, event), tuple[Related, ...]()
    elsewhere = site is not None and site.span.path != event.site.span.path
    if site is None or not (elsewhere or _also_trains(analysis, event)):
        site = event.site
    else:
        places = (event.site.span.related(message("no_grad.missing.forward")),)
    # Whoever calls a function that nothing here calls may do it under no_grad().
    by_others = _is_called_elsewhere(event) or callers_may_stop_recording(analysis, event.site)
    severity: Severity | None = "hint" if by_others else None
    return Finding(site.span, text, places, _wrapped(analysis, event, loop, path, name), severity=severity)


def _is_called_elsewhere(event: Event) -> bool:
    """Whether a forward stands in a plain function that nothing here calls: others import it."""
    scene = event.site.scene
    return scene.function is not None and scene.function.owner is None and scene.call is None


def _also_trains(analysis: Analysis, event: Event) -> bool:
    """Whether the same line runs a model for training, too, when it is reached by another call."""
    return any(
        other.site.span == event.site.span and other.forward_id in analysis.trace.consumed
        for other in analysis.events("forward")
    )


def _wrapped(analysis: Analysis, event: Event, loop: ast.stmt, path: str, name: str | None) -> Iterator[Candidate]:
    """``no_grad`` around the loop; where the loop also trains, around the call that evaluates, or by the mode."""
    manager, imports = named(analysis, event.site, "torch.no_grad")
    imports = imports if path == event.site.span.path else ()
    if is_simple(loop, analysis, path):
        changes = edits.wrap(analysis.source_of(path), loop, f"with {manager}():")
        yield Candidate(message("fix.no_grad"), (*imports, *changes))
    site = caller_of(event.site)
    while site is not None:
        around = as_kind(statement_of(analysis, site), ast.Expr, ast.Assign, ast.Return)
        if around is not None and is_simple(around, analysis, site.span.path):
            manager, imports = named(analysis, site, "torch.no_grad")
            changes = edits.wrap(site.source, around, f"with {manager}():")
            yield Candidate(message("fix.no_grad"), (*imports, *changes))
        site = caller_of(site)
    if name is not None and path == event.site.span.path and is_simple(loop, analysis, path):
        manager, imports = named(analysis, event.site, "torch.set_grad_enabled")
        changes = edits.wrap(analysis.source_of(path), loop, f"with {manager}({name}.training):")
        yield Candidate(message("fix.grad_enabled", name=name), (*imports, *changes))


RULE = Rule(FAULTS[CODE], find, of_absence=True)

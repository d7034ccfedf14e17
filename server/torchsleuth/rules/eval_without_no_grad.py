"""eval-without-no-grad: an evaluation loop that records a graph.

What it finds
    A loop in which a model in evaluation mode is called while autograd records, although no backward() ever uses
    the result.
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

from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.interp.values import Instance, LibraryModule
from torchsleuth.messages import message
from torchsleuth.rules.loops import is_simple, loop_statement
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS506"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[tuple[str, int]] = set()
    for event in analysis.trace.events:
        point = _wasteful(analysis, event)
        if point is None:
            continue
        loop = loop_statement(analysis, point)
        key = (point.span.path, point.span.start.line)
        if loop is not None and key not in reported:
            reported.add(key)
            yield _finding(analysis, event, point, loop)


def _wasteful(analysis: Analysis, event: Event) -> LoopPoint | None:
    """The loop of a forward in evaluation mode whose recorded graph nothing uses."""
    tensor = event.tensor
    if event.kind != "forward" or event.training is not False or not event.grad or tensor is None:
        return None
    if tensor.spec.requires_grad is not True or event.forward_id in analysis.trace.consumed or not event.loops:
        return None
    frame = event.site.frame
    inside = [point for point in event.loops if point.span.path == event.site.span.path]
    here = [point for point in inside if _contains(point.node, event.site.node)]
    function_node = frame.function.node if frame.function is not None else None
    here = [point for point in here if function_node is None or point.node.lineno >= function_node.lineno]
    # Any other model trained in the same loop makes it a training loop.
    for point in reversed(here):
        trained = any(
            other.kind == "backward" and any(p.execution == point.execution for p in other.loops)
            for other in analysis.trace.events
        )
        if not trained:
            return point
        return None
    return None


def _contains(loop: ast.stmt, node: ast.AST) -> bool:
    line: int = getattr(node, "lineno", 0)
    return loop.lineno <= line <= (loop.end_lineno or loop.lineno)


def _finding(analysis: Analysis, event: Event, point: LoopPoint, loop: ast.stmt) -> Finding:
    source = analysis.source_of(point.span.path)
    subject = event.subject
    name = f"`{subject.name or subject.cls.name}`" if isinstance(subject, Instance) else "the model"
    if isinstance(event.site.node, ast.Call):
        name = f"`{ast.unparse(event.site.node.func)}`"
    elif isinstance(subject, LibraryModule) and subject.name:
        name = f"`{subject.name}`"
    candidates: list[Candidate] = []
    if is_simple(loop, analysis, point.span.path) and _imports_torch(event):
        candidates.append(Candidate(message("fix.no_grad"), edits.wrap(source, loop, "with torch.no_grad():")))
    return Finding(event.site.span, message("no_grad.missing", module=name), (), tuple(candidates))


def _imports_torch(event: Event) -> bool:
    return "torch" in event.site.frame.globals


RULE = Rule(CODE, "eval-without-no-grad", "warning", "training loop", __doc__, find)

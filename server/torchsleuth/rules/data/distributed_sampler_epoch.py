"""distributed-sampler-epoch: a DistributedSampler that never learns of a new epoch.

What it finds
    A loader with a DistributedSampler that is iterated in a loop over epochs, in a script that never calls set_epoch on
    the sampler. Silent for a sampler made with shuffle=False.
Why it hurts
    The sampler shuffles with a seed made of its own and the epoch. Without set_epoch the order is the same in every epoch.
Example
    for epoch in range(epochs):
        for x, y in loader:
            ...
Use instead
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for x, y in loader:
            ...
Fix safety
    Safe.
References
    torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import option
from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import made_here
from torchsleuth.rules.evidence.loops import is_simple, loop_statement, name_in, place_in
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_reference, keyword_of
from torchsleuth.values import is_object_named
from torchsleuth.values.frames import Scene

CODE = "TS610"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[int] = set()
    for event in analysis.trace.events:
        for outer, point in zip(event.loops, event.loops[1:]):
            sampler = option(point.loader, "sampler") if point.loader is not None else None
            if not _shuffles(sampler) or id(sampler) in seen or not event.certain or _is_told(analysis, point):
                continue
            seen.add(id(sampler))
            yield _finding(analysis, outer, point, event)


def _is_told(analysis: Analysis, point: LoopPoint) -> bool:
    """Whether set_epoch stands anywhere in the script, or in the file of the loop."""
    trees = {path: analysis.tree(path) for path in (analysis.source.path, point.span.path)}
    nodes = (part for tree in trees.values() for part in ast.walk(tree))
    return any(is_attribute(part, "set_epoch") for part in nodes)


def _shuffles(sampler: object) -> bool:
    if not is_object_named(sampler, "DistributedSampler"):
        return False
    return sampler.given(3, "shuffle", True) is True


def _finding(analysis: Analysis, outer: LoopPoint, point: LoopPoint, event: Event) -> Finding:
    statement, above = (
        as_kind(loop_statement(analysis, point), ast.For),
        as_kind(loop_statement(analysis, outer), ast.For),
    )
    span = point.span
    if isinstance(point.node, ast.For):
        span = analysis.source_of(point.span.path).span(point.node.iter)
    candidates: list[Candidate] = []
    if statement is not None and above is not None and isinstance(above.target, ast.Name):
        name = _sampler_text(analysis, point, statement.iter)
        if name is not None and point.span.path == outer.span.path and statement in ast.walk(above):
            source = analysis.source_of(point.span.path)
            text = f"{name}.set_epoch({above.target.id})"
            edit = edits.insert_line_before(source, statement, text)
            candidates.append(Candidate(message("fix.insert", text=text), (edit,)))
    if above is not None and isinstance(above.target, ast.Name) and not candidates:
        candidates += _told_outside(analysis, above, above.target.id, point, event)
    return Finding(span, message("data.set_epoch"), made_here(analysis, point.loader), tuple(candidates))


def _told_outside(
    analysis: Analysis, above: ast.For, epoch: str, point: LoopPoint, event: Event
) -> Iterator[Candidate]:
    """set_epoch() at the start of the loop over epochs, where the loop over batches is in a function that it calls."""
    frame: Scene | None = event.site.scene
    while frame is not None:
        here = frame.path == analysis.source.path and place_in(event.site, frame.function)
        inside = here and above.body[0].lineno <= here.span.start.line <= (above.end_lineno or 0)
        name = name_in(frame, point.loader) if inside else None
        first = above.body[0]
        if name is not None and is_simple(first, analysis, frame.path):
            text = f"{name}.sampler.set_epoch({epoch})"
            edit = edits.insert_line_before(analysis.source_of(frame.path), first, text)
            yield Candidate(message("fix.insert", text=text), (edit,))
            return
        frame = frame.caller


def _sampler_text(analysis: Analysis, point: LoopPoint, node: ast.expr) -> str | None:
    """The sampler of the loader in ``enumerate(loader)`` or ``tqdm(loader)``; that of a loader which is made for the loop, by its
    name."""
    source = analysis.source_of(point.span.path)
    while isinstance(node, ast.Call):
        given = keyword_of(node, "sampler")
        if given is not None:
            return source.segment(given.value) if is_reference(given.value) else None
        if not node.args:
            return None
        node = node.args[0]
    return f"{source.segment(node)}.sampler" if is_reference(node) else None


RULE = Rule(FAULTS[CODE], find, of_absence=True)

"""clip-in-the-wrong-place: gradients are clipped when it has no effect, or while they are scaled.

What it finds
    clip_grad_norm_ before backward() or after optimizer.step(), and, with a GradScaler, before scaler.unscale_().
Why it hurts
    There is nothing to clip any more or yet, and exploding gradients pass. Scaled gradients are 65536 times too large,
    so that clipping them makes every step the same tiny one.
Example
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
Use instead
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
Fix safety
    Safe: large gradients are clipped, as they were meant to be.
References
    torch.nn.utils.clip_grad_norm_, torch.amp, "Gradient clipping"
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import is_off, parts_in, trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import (
    blocks_of,
    is_alone,
    is_simple,
    name_in,
    receiver_text,
    same_iteration,
    statement_of,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject, Value

CODE = "TS509"


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    reported: set[object] = set()
    for event in events:
        if event.kind != "clip" or not event.loops or event.site.span in reported:
            continue
        if _limit(analysis, event) == math.inf:
            continue  # it only measures the norm
        around = _around(events, event)
        before = [other for other in around if other.index < event.index]
        after = [other for other in around if other.index > event.index]
        finding = _scaled(analysis, event, before, after)
        if event.certain:
            wrong = _too_late(analysis, event, before, after) or _too_early(analysis, event, before, after)
            finding = wrong or finding
        if finding is not None:
            reported.add(event.site.span)
            yield finding


def _around(events: list[Event], clip: Event) -> list[Event]:
    """The events in the same iteration of the innermost loop that steps as well: a loop over callbacks is none."""
    around: list[Event] = []
    for depth in range(len(clip.loops), 0, -1):
        outer = replace(clip, loops=clip.loops[:depth])
        around = [other for other in events if same_iteration(outer, other) and not _is_joined(other)]
        if any(other.kind in ("step", "backward") for other in around):
            break
    return around


def _limit(analysis: Analysis, clip: Event) -> Value:
    calls = (call for call in analysis.trace.calls if call.site.span == clip.site.span and "clip_grad" in call.path)
    return next((call.given(1, "max_norm") for call in calls), None)


def _is_joined(event: Event) -> bool:
    return any(point.joined for point in event.loops)


def _of(event: Event, clip: Event, *kinds: str) -> bool:
    """An event about the gradients that are clipped, as far as that is known."""
    if event.kind not in kinds or not event.certain:
        return False
    if event.kind == "backward" or not isinstance(event.subject, LibraryObject):
        return event.kind == "backward"
    clipped = {id(part) for part in parts_in(clip.subject)}
    return any(id(part) in clipped for part in trained_parts(event.subject))


def _first(events: Iterable[Event], kind: str) -> Event | None:
    return next((event for event in events if event.kind == kind), None)


def _too_late(analysis: Analysis, clip: Event, before: list[Event], after: list[Event]) -> Finding | None:
    """After the step, with the gradients cleared or made anew before the next one."""
    last = next((other for other in reversed(before) if other.kind in ("backward", "step", "clip")), None)
    if last is None or not _of(last, clip, "step") or any(other.kind in ("backward", "step") for other in after):
        return None
    if not any(_of(other, clip, "zero_grad") for other in analysis.trace.events):
        return None
    text = message("clip.late", line=last.site.span.start.line)
    return _finding(clip, last, text, _moved_before(analysis, clip, last))


def _too_early(analysis: Analysis, clip: Event, before: list[Event], after: list[Event]) -> Finding | None:
    """Between zero_grad and the first backward()."""
    last = next((other for other in reversed(before) if other.kind in ("backward", "step", "zero_grad")), None)
    next_backward = _first(after, "backward")
    if last is None or not _of(last, clip, "zero_grad") or next_backward is None or not next_backward.certain:
        return None
    if not any(_of(other, clip, "step") for other in after):
        return None
    text = message("clip.early", line=next_backward.site.span.start.line)
    return _finding(clip, next_backward, text, _moved_after(analysis, clip, next_backward))


def _scaled(analysis: Analysis, clip: Event, before: list[Event], after: list[Event]) -> Finding | None:
    """Between the backward() of a scaled loss and scaler.step(), without unscale_()."""
    scaled = any(other.kind == "scale" and not is_off(other.subject) for other in before)
    step, late = _first(after, "scaler_step"), _first(after, "unscale")
    if not scaled or step is None or _first(before, "unscale") is not None or _first(before, "backward") is None:
        return None
    if not clip.certain and not _together(analysis, clip, step):
        return None
    scaler = receiver_text(step.site)
    text = message("clip.scaled", scaler=f"`{scaler}`")
    candidates: tuple[Candidate, ...] = ()
    statement = statement_of(analysis, clip.site)
    stepped = _first(after, "step")
    optimizer = name_in(clip.site.scene, stepped.subject) if stepped is not None else None
    path = clip.site.span.path
    if late is not None:
        candidates = _moved_after(analysis, clip, late)
    elif scaler and optimizer and statement is not None and is_simple(statement, analysis, path):
        line = f"{scaler}.unscale_({optimizer})"
        edit = edits.insert_line_before(analysis.source_of(path), statement, line)
        candidates = (Candidate(message("fix.insert", text=line), (edit,)),)
    return _finding(clip, step, text, candidates)


def _together(analysis: Analysis, clip: Event, step: Event) -> bool:
    """Whether one condition stands before both: they are in the same block."""
    both = statement_of(analysis, clip.site), statement_of(analysis, step.site)
    tree = analysis.tree(clip.site.span.path)
    return any(all(any(one is part for part in block) for one in both) for block in blocks_of(tree))


def _finding(clip: Event, other: Event, text: str, candidates: tuple[Candidate, ...]) -> Finding:
    places = (other.site.span.related(message(f"clip.place.{other.kind}")),)
    return Finding(clip.site.span, text, places, candidates)


def _moved_before(analysis: Analysis, clip: Event, target: Event) -> tuple[Candidate, ...]:
    return _moved(analysis, clip, target, edits.insert_line_before, "fix.move_before")


def _moved_after(analysis: Analysis, clip: Event, target: Event) -> tuple[Candidate, ...]:
    return _moved(analysis, clip, target, edits.insert_line_after, "fix.move_after")


def _moved(
    analysis: Analysis, clip: Event, target: Event, insert: edits.InsertLine, title: str
) -> tuple[Candidate, ...]:
    path = clip.site.span.path
    moved, beside = as_kind(statement_of(analysis, clip.site), ast.Expr), statement_of(analysis, target.site)
    if moved is None or beside is None or target.site.span.path != path:
        return ()
    if clip.site.scene.function is not target.site.scene.function:
        return ()
    if not is_alone(moved, analysis, path) or not is_simple(beside, analysis, path):
        return ()
    source = analysis.source_of(path)
    text = source.segment(moved)
    name = text.partition("(")[0].rpartition(".")[2]
    changes = (edits.remove_line(source, moved.lineno), insert(source, beside, text))
    return (Candidate(message(title, text=name, line=beside.lineno), changes),)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

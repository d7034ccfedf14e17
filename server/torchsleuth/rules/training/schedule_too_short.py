"""schedule-too-short: a schedule that is stepped more often than it was made for.

What it finds
    OneCycleLR with a number of steps that the loops around its step() are known to exceed: mostly the number of epochs,
    while it steps after every batch.
Why it hurts
    ValueError "Tried to step 5 times. The specified number of total steps is 3", somewhere in the first epochs.
Example
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            ...
            scheduler.step()
Use instead
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * len(loader))
Fix safety
    Safe: the schedule then lasts as long as the training.
References
    torch.optim.lr_scheduler.OneCycleLR
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.schedules import (
    batches_of,
    is_one_of_several,
    is_set_back,
    is_unconditional,
    iterations,
    loops_since,
    once_an_epoch,
    product,
    with_batches,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import LibraryObject, is_int

CODE = "TS527"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for event in analysis.events("scheduler_step"):
        scheduler = as_kind(event.subject, LibraryObject)
        if event.site.span in seen or not event.certain or scheduler is None:
            continue
        if scheduler.type_name != "OneCycleLR" or scheduler.site is None or scheduler.site.call is None:
            continue
        points = loops_since(event, scheduler)
        made, taken = _length(scheduler), product([iterations(point) for point in points])
        if not is_unconditional(analysis, event.site, points) or is_set_back(analysis, scheduler, points):
            continue
        if is_one_of_several(analysis, event, points):
            continue
        if made is None or taken is None or dims.positive(dims.subtract(taken, made)) != 1:
            continue
        seen.add(event.site.span)
        places = (scheduler.site.span.related(message("scheduler.short.made", steps=dims.text(made))),)
        text = message("scheduler.short", taken=dims.text(taken), made=dims.text(made))
        yield Finding(event.site.span, text, places, tuple(_repairs(analysis, event, scheduler, points)))


def _length(scheduler: LibraryObject) -> Size | None:
    """How many steps a OneCycleLR was made for."""
    total = scheduler.given(2, "total_steps")
    if total is None:
        return product([scheduler.given(3, "epochs"), scheduler.given(4, "steps_per_epoch")])
    return total if is_int(total) else None


def _repairs(
    analysis: Analysis, event: Event, scheduler: LibraryObject, points: list[LoopPoint]
) -> Iterator[Candidate]:
    """The number of steps times the number of batches, or the step once an epoch."""
    assert scheduler.site is not None
    source, call = scheduler.site.source, scheduler.site.node
    given = {keyword.arg: keyword.value for keyword in getattr(call, "keywords", ())}
    if "total_steps" in given:
        yield from with_batches(event, points, scheduler, given["total_steps"])
    batches, value = batches_of(event, points, scheduler), given.get("steps_per_epoch")
    if value is not None and batches is not None:
        yield replacement(source, value, batches)
    yield from once_an_epoch(analysis, event, points)


RULE = Rule(FAULTS[CODE], find)

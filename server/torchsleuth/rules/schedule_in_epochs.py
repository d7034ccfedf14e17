"""schedule-in-epochs: a schedule that counts epochs, and is stepped after every batch.

What it finds
    CosineAnnealingLR whose T_max is the number of epochs, stepped in the loop over batches; PolynomialLR that is made for
    the number of epochs, and LinearLR that falls to zero in that time; StepLR and ExponentialLR that have multiplied the
    learning rate away when the loops end, and would not have with one step an epoch.
Why it hurts
    The schedule is over after a few batches. From then on the learning rate is zero, or so small that nothing is learned;
    with CosineAnnealingLR it goes up and down all the time. Nothing is raised.
Example
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            ...
            scheduler.step()
Use instead
    for epoch in range(epochs):
        for x, y in loader:
            ...
        scheduler.step()
Fix safety
    Safe: a schedule in epochs steps once an epoch.
References
    torch.optim.lr_scheduler, "How to adjust learning rate"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import LoopPoint
from torchsleuth.interp.values import LibraryObject
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Example, Finding, Rule, related
from torchsleuth.rules.schedules import (
    is_one_of_several,
    is_set_back,
    is_unconditional,
    iterations,
    loops_since,
    once_an_epoch,
    product,
    with_batches,
)

CODE = "TS536"
NOTHING = 1e-8
"""A part of the learning rate that changes no weight."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for event in analysis.events("scheduler_step"):
        scheduler = event.subject
        if event.site.span in seen or not event.certain or not isinstance(scheduler, LibraryObject):
            continue
        call = scheduler.site.node if scheduler.site is not None else None
        points = loops_since(event, scheduler)
        if scheduler.site is None or not isinstance(call, ast.Call) or len(points) < 2:
            continue
        text = _fault(scheduler, points)
        if text is None or not is_unconditional(analysis, event.site, points):
            continue
        if is_set_back(analysis, scheduler, points) or is_one_of_several(analysis, event, points):
            continue
        seen.add(event.site.span)
        source = analysis.source_of(scheduler.site.span.path)
        length = next((word.value for word in call.keywords if word.arg in ("T_max", "total_iters")), None)
        fixes = list(once_an_epoch(analysis, event, points, safe=True))
        if length is not None:
            fixes += with_batches(analysis, event, points, scheduler, length)
        yield Finding(event.site.span, text, (related(source, call, message("scheduler.made")),), tuple(fixes))


def _fault(scheduler: LibraryObject, points: list[LoopPoint]) -> str | None:
    """What becomes of the learning rate, where it is known to be wrong."""
    epochs, batches = product([iterations(point) for point in points[:-1]]), iterations(points[-1])
    if not isinstance(epochs, int) or not isinstance(batches, int) or batches < 2:
        return None
    name, taken = scheduler.type_name, epochs * batches
    if name == "CosineAnnealingLR":
        length = scheduler.argument(1, "T_max")
        if length == epochs and epochs not in (1, batches):
            return message("scheduler.epochs.cosine", epochs=epochs, taken=taken)
    if name in ("PolynomialLR", "LinearLR"):
        place, default = (1, 5) if name == "PolynomialLR" else (3, 5)
        length = scheduler.argument(place, "total_iters", default)
        ends = name == "PolynomialLR" or scheduler.argument(2, "end_factor", 1.0) == 0
        if ends and length == epochs and epochs not in (1, batches):
            return message("scheduler.epochs.zero", made=length, taken=taken)
    left = _left(scheduler, taken)
    if left is not None and left < NOTHING and (_left(scheduler, epochs) or 0) >= NOTHING:
        return message("scheduler.epochs.gone", factor=f"{left:.0e}", taken=taken)
    return None


def _left(scheduler: LibraryObject, steps: int) -> float | None:
    """What a schedule that multiplies leaves of the learning rate after so many steps."""
    name = scheduler.type_name
    gamma = scheduler.argument(1 if name == "ExponentialLR" else 2, "gamma", 0.1)
    if not isinstance(gamma, float) or not 0 < gamma < 1:
        return None
    if name == "ExponentialLR":
        return float(gamma**steps)
    if name == "StepLR":
        size = scheduler.argument(1, "step_size")
        return float(gamma ** (steps // size)) if isinstance(size, int) and size > 0 else None
    return None


RULE = Rule(
    CODE,
    "schedule-in-epochs",
    "warning",
    "training loop",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 20
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
#       ^^^^^^^^^^^^^^^^ TS536: T_max=20 is the number of epochs, but this steps after every batch
""",
            fixed="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 20
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    scheduler.step()
""",
            good="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 20
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * len(loader))
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
""",
        ),
    ),
)

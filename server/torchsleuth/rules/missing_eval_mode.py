"""missing-eval-mode: a trained model is evaluated while its dropout and batch norm are in training mode.

What it finds
    A loop or function that evaluates a model that was trained before (its output is compared, measured or collected,
    and nothing goes backward), although the model has dropout or batch normalisation and is in training mode.
Why it hurts
    Dropout zeroes values at random and batch norm uses the statistics of the test batch, and even updates its own:
    the measured accuracy is too low, and differs from run to run.
Example
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
Use instead
    model.eval()
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
Fix safety
    Safe where nothing is trained afterwards; otherwise model.train() is put behind the evaluation as well.
References
    torch.nn.Module.eval
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Event
from torchsleuth.interp.values import LibraryModule, Tensor
from torchsleuth.messages import message
from torchsleuth.rules.loops import (
    called_text,
    covers,
    enclosing_block,
    is_simple,
    mode_dependent,
    trained_by,
    unseen,
    within,
)
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule, related
from torchsleuth.schema import Related
from torchsleuth.syntax import edits

CODE = "TS505"
_MEASURES = frozenset("argmax eq ne max topk gt ge lt le round".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    reported: set[object] = set()
    for event in events:
        layer = _in_training_mode(analysis, event)
        if layer is not None and event.site.span not in reported:
            reported.add(event.site.span)
            if not unseen(analysis, "eval"):
                yield _finding(analysis, event, layer)


def _in_training_mode(analysis: Analysis, event: Event) -> LibraryModule | None:
    """The layer that is in the wrong mode, if this forward evaluates a trained module in training mode."""
    if event.kind != "forward" or event.training is not True or event.tensor is None or not event.certain:
        return None
    layer = mode_dependent(event.subject)
    if layer is None or layer.slots["training"] is not True or event.subject.identity in analysis.trace.escaped:
        return None
    events = analysis.trace.events
    before = [other for other in events[: event.index] if other.kind == "step" and other.certain]
    trained = [step for step in before if trained_by(step.subject, event.subject)]
    if not trained or any(
        other.kind == "train" and covers(other, event.subject) for other in _since(events, trained[-1], event)
    ):
        return None  # never trained, or put into training mode on purpose for this
    if event.loops:
        inner = event.loops[-1]
        if any(other.kind in ("backward", "step") and within(other, inner) for other in events):
            if not _nested_block(analysis, event):
                return None
    if event.grad and event.forward_id in analysis.trace.consumed:
        return None
    return layer if _measured(analysis, event) else None


def _since(events: list[Event], first: Event, last: Event) -> list[Event]:
    return events[first.index : last.index]


def _nested_block(analysis: Analysis, event: Event) -> bool:
    """In the training loop itself only what runs without gradients is an evaluation."""
    return not event.grad


def _measured(analysis: Analysis, event: Event) -> bool:
    """Whether the output ends in a comparison, a choice of the largest, or a loss that is not sent backward."""
    assert event.tensor is not None
    for operation in analysis.trace.operations:
        name = operation.target.rpartition(".")[2].strip("_")
        loss = operation.module is not None and operation.module.type_name.endswith("Loss")
        if name in _MEASURES or loss or name.endswith(("_loss", "cross_entropy")):
            if any(_derives(tensor, event.tensor) for tensor in operation.tensors):
                return True
    return False


def _derives(tensor: Tensor, source: Tensor, depth: int = 8) -> bool:
    if tensor is source:
        return True
    if depth == 0 or tensor.origin is None:
        return False
    return any(_derives(part, source, depth - 1) for part in tensor.origin.sources)


def _finding(analysis: Analysis, event: Event, layer: LibraryModule) -> Finding:
    name = called_text(analysis, event)
    places: tuple[Related, ...] = ()
    line = 0
    if layer.site is not None:
        source = analysis.source_of(layer.site.span.path)
        line = layer.site.span.start.line
        places = (related(source, layer.site.node, message("eval.missing.layer", layer=layer.type_name)),)
    text = message("eval.missing", module=f"`{name}`" if name else "the model", layer=layer.type_name, line=line)
    return Finding(event.site.span, text, places, tuple(_inserted(analysis, event, name)))


def _inserted(analysis: Analysis, event: Event, name: str | None) -> Iterator[Candidate]:
    """``model.eval()`` before the block that evaluates, and ``model.train()`` behind it where training goes on."""
    block = enclosing_block(analysis, event)
    path = event.site.span.path
    if name is None or block is None or not is_simple(block, analysis, path):
        return
    source = analysis.source_of(path)
    before = edits.insert_line_before(source, block, f"{name}.eval()")
    yield Candidate(message("fix.insert", text=f"{name}.eval()"), (before,))
    if not any(isinstance(part, ast.Return) for part in ast.walk(block)):
        after = edits.insert_line_after(source, block, f"{name}.train()")
        title = message("fix.insert_both", first=f"{name}.eval()", second=f"{name}.train()")
        yield Candidate(title, (before, after))


RULE = Rule(
    CODE,
    "missing-eval-mode",
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

data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
train_loader, test_loader = DataLoader(data, batch_size=16, shuffle=True), DataLoader(data, batch_size=16)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters())
for x, y in train_loader:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

correct = 0
with torch.no_grad():
    for x, y in test_loader:
        correct += (model(x).argmax(1) == y).sum().item()
#                   ^^^^^^^^ TS505: `model` is evaluated in training mode: Dropout (line 7) is active
""",
            fixed="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
train_loader, test_loader = DataLoader(data, batch_size=16, shuffle=True), DataLoader(data, batch_size=16)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters())
for x, y in train_loader:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

correct = 0
model.eval()
with torch.no_grad():
    for x, y in test_loader:
        correct += (model(x).argmax(1) == y).sum().item()
""",
            good="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
train_loader, test_loader = DataLoader(data, batch_size=16, shuffle=True), DataLoader(data, batch_size=16)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters())
for x, y in train_loader:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

correct = 0
with torch.no_grad():
    for x, y in test_loader:
        correct += (model(x).argmax(1) == y).sum().item()
""",
        ),
    ),
)

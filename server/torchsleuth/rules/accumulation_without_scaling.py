"""accumulation-without-scaling: gradients of several batches are added up, and the loss is not divided.

What it finds
    backward() in every iteration, step() only in every k-th (`if (i + 1) % k == 0`), and a loss that is a mean over the
    batch and goes backward as it is.
Why it hurts
    The gradient is k times that of the large batch it stands for: the learning rate is k times too high.
Example
    loss = criterion(model(x), y)
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
Use instead
    loss = criterion(model(x), y)
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
Fix safety
    Unsafe: a learning rate that was tuned with the sum has to be tuned again.
References
    torch.amp, "Gradient accumulation"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.graph import GraphNode
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.loops import modules_of, statement_of, trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule, related
from torchsleuth.syntax import edits

CODE = "TS514"
_MEANS = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div "
    "binary_cross_entropy_with_logits CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss "
    "BCEWithLogitsLoss KLDivLoss mean".split()
)
_ADAPTIVE = ("Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam")


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    reported: set[object] = set()
    for step in events:
        condition = _every_kth(analysis, step) if step.kind == "step" and step.loops else None
        if condition is None or not modules_of(step.subject):
            continue
        if step.subject.type_name in _ADAPTIVE and not any(event.kind == "clip" for event in events):
            continue  # these divide by the size of the gradient
        backward = _unscaled(events, step)
        if backward is not None and backward.site.span not in reported:
            reported.add(backward.site.span)
            yield _finding(analysis, backward, step, condition)


def _every_kth(analysis: Analysis, step: Event) -> ast.BinOp | None:
    """The ``i % k`` that decides whether the optimizer steps."""
    statement = statement_of(analysis, step.site)
    if statement is None:
        return None
    for part in reversed(edits.path_to(analysis.tree(step.site.span.path), statement)):
        if isinstance(part, ast.For | ast.While | ast.FunctionDef):
            return None
        if isinstance(part, ast.If):
            found = [n for n in ast.walk(part.test) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)]
            return found[0] if found and statement in list(ast.walk(ast.Module(part.body, []))) else None
    return None


def _unscaled(events: list[Event], step: Event) -> Event | None:
    """The backward() of every iteration of the same loop, of a mean that nothing was done to."""
    for event in events:
        if event.kind != "backward" or event.tensor is None or not event.certain or not event.loops:
            continue
        if event.loops[-1].execution != step.loops[-1].execution or event.site.frame is not step.site.frame:
            continue
        node = event.tensor.slots["node"]
        forwards = [e for e in events if e.forward_id in event.tensor.slots["history"] and e.kind == "forward"]
        trained = any(trained_by(step.subject, forward.subject) for forward in forwards)
        if trained and isinstance(node, GraphNode) and node.operator in _MEANS and _is_mean(event):
            return event
    return None


def _is_mean(event: Event) -> bool:
    """No reduction="sum", and nothing was multiplied on the way."""
    origin = event.tensor.origin if event.tensor is not None else None
    if origin is None or not isinstance(origin.site.node, ast.Call):
        return False
    return not any(keyword.arg in ("reduction", "weight", "size_average") for keyword in origin.site.node.keywords)


def _finding(analysis: Analysis, backward: Event, step: Event, condition: ast.BinOp) -> Finding:
    source = analysis.source_of(backward.site.span.path)
    times = source.segment(condition.right)
    places = (related(source, step.site.node, message("accumulate.step", times=times)),)
    candidates: list[Candidate] = []
    node = backward.site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        text = f"({source.segment(node.func.value)} / {times})"
        title = message("fix.replace", old=source.segment(node.func.value), new=text)
        candidates.append(Candidate(title, (edits.replace(source, node.func.value, text),), safe=False))
    return Finding(backward.site.span, message("accumulate.unscaled", times=times), places, tuple(candidates))


RULE = Rule(
    CODE,
    "accumulation-without-scaling",
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
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(100)]
for i, (x, y) in enumerate(batches):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
#   ^^^^^^^^^^^^^^^ TS514: this backward() adds up 4 batches to a step and the loss is not divided by 4
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
""",
            fixed="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(100)]
for i, (x, y) in enumerate(batches):
    loss = nn.functional.mse_loss(model(x), y)
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(100)]
for i, (x, y) in enumerate(batches):
    loss = nn.functional.mse_loss(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
    ),
)

"""best-state-by-reference: the best weights are remembered by reference and overwritten by training.

What it finds
    `best = model.state_dict()` in a training loop, where `best` is used after the loop, or loaded back.
Why it hurts
    state_dict() holds the parameters themselves. The optimizer changes them in place, so the "best" state is always
    the latest one.
Example
    if accuracy > best_accuracy:
        best_state = model.state_dict()
Use instead
    if accuracy > best_accuracy:
        best_state = copy.deepcopy(model.state_dict())
Fix safety
    Safe: only the copy is new.
References
    torch.nn.Module.state_dict, "Saving and loading models"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.loops import loop_statement, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS517"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for call in analysis.trace.calls:
        if not call.path.endswith(".state_dict") or not call.loops or call.site.span in seen:
            continue
        seen.add(call.site.span)
        target = _kept(analysis, call)
        if target is not None and _trains_on(analysis, call):
            source = analysis.source_of(call.site.span.path)
            text = message("state.reference", name=f"`{source.segment(target)}`")
            yield Finding(call.site.span, text, (), (_copied(analysis, call),))


def _kept(analysis: Analysis, call: LibraryCall) -> ast.expr | None:
    """The variable that holds the state beyond the iteration: read outside of the loop, or loaded back."""
    statement = statement_of(analysis, call.site)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value, target = statement.value, statement.targets[0]
    start = (call.site.node.lineno, call.site.node.col_offset)  # type: ignore[attr-defined]
    if (value.lineno, value.col_offset) != start or not isinstance(value, ast.Call):
        return None
    text = ast.unparse(target)
    path = call.site.span.path
    loops = [loop_statement(analysis, point) for point in call.loops if point.span.path == path]
    inner = next(
        (loop for loop in loops if loop is not None and loop.lineno < statement.lineno <= (loop.end_lineno or 0)), None
    )
    for node in ast.walk(analysis.tree(path)):
        if (
            not isinstance(node, ast.Name | ast.Attribute)
            or not isinstance(node.ctx, ast.Load)
            or ast.unparse(node) != text
        ):
            continue
        outside = inner is not None and not inner.lineno <= node.lineno <= (inner.end_lineno or 0)
        if isinstance(target, ast.Attribute) or (outside and node.lineno > statement.lineno):
            return target
    return None


def _trains_on(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether an optimizer steps in the same loop, also after the state was taken."""
    executions = {point.execution for point in call.loops}
    steps = [event for event in analysis.trace.events if event.kind == "step"]
    return any(event.index >= call.after and executions & {point.execution for point in event.loops} for event in steps)


def _copied(analysis: Analysis, call: LibraryCall) -> Candidate:
    path = call.site.span.path
    source, tree = analysis.source_of(path), analysis.tree(path)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "copy"]
    plain = any(alias.name == "deepcopy" and alias.asname is None for node in imports for alias in node.names)
    text = f"{'deepcopy' if plain else 'copy.deepcopy'}({source.segment(call.site.node)})"
    changes = () if plain else edits.add_import(source, tree, "import copy")
    return Candidate(message("fix.copy"), (*changes, edits.replace(source, call.site.node, text)))


RULE = Rule(
    CODE,
    "best-state-by-reference",
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
best, best_state = float("inf"), None
for epoch in range(5):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best = loss.item()
        best_state = model.state_dict()
        #            ^^^^^^^^^^^^^^^^^^ TS517: `best_state` refers to the parameters themselves
model.load_state_dict(best_state)
""",
            fixed="""
import torch
from torch import nn
import copy

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best, best_state = float("inf"), None
for epoch in range(5):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best = loss.item()
        best_state = copy.deepcopy(model.state_dict())
model.load_state_dict(best_state)
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = model.state_dict()
    torch.save(state, f"epoch{epoch}.pt")
""",
        ),
    ),
)

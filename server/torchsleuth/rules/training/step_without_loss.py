"""step-without-loss: a training step of Lightning's that gives no loss back.

What it finds
    A `training_step()` of a LightningModule that never returns a value, where nothing switches automatic optimization off.
Why it hurts
    Lightning takes None for a batch that is to be skipped: nothing goes backward, and no parameter changes. It says so in a
    warning at most.
Example
    def training_step(self, batch, batch_idx):
        loss = self.criterion(self(batch[0]), batch[1])
        self.log("loss", loss)
Use instead
    def training_step(self, batch, batch_idx):
        loss = self.criterion(self(batch[0]), batch[1])
        self.log("loss", loss)
        return loss
Fix safety
    Safe where one loss is computed.
References
    lightning.LightningModule.training_step, "Return"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import faults
from torchsleuth.rules.evidence.uses import name_span, subclasses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    contains,
    is_binding,
    is_function,
    is_method_call,
    is_remark,
    is_text,
    literal,
    nodes_in,
)

CODE = "TS572"
_BASE = "LightningModule"
_LOSS = re.compile("loss|total|objective", re.IGNORECASE)
_BY_HAND = ("automatic_optimization", "manual_backward")


def find(analysis: Analysis) -> Iterator[Finding]:
    if any(word in analysis.source.text for word in _BY_HAND):
        return
    for owner, _ in subclasses(analysis, lambda path: path.endswith(f".{_BASE}")):
        for step in owner.body:
            if not is_function(step, "training_step") or step.decorator_list:
                continue
            if _gives_nothing(step):
                yield _finding(analysis, step)
            else:
                yield from _without_graph(analysis, step)


def _without_graph(analysis: Analysis, step: ast.FunctionDef) -> Iterator[Finding]:
    """Returns of ``loss.detach()`` and ``loss.item()``, of a dict with one of these for its loss, and of a dict without a loss."""
    source = analysis.source
    # Where a trainer fits the module, TS401 tells what its backward() meets.
    told = {fault.cut.site.span.start.line for fault in faults(analysis, "no_graph") if fault.cut is not None}
    for returned in nodes_in(step, ast.Return):
        if returned.lineno in told:
            continue
        given = returned.value
        if isinstance(given, ast.Dict) and given.keys and all(map(is_text, given.keys)):
            entries = {literal(key): value for key, value in zip(given.keys, given.values)}
            if "loss" not in entries:
                named = [key for key in given.keys if key is not None and _LOSS.search(str(literal(key)))]
                fixes = [replacement(source, key, '"loss"') for key in named[:1] if len(named) == 1]
                yield Finding(source.span(given), message("step.dict"), (), fixes)
                continue
            given = entries["loss"]
        if is_method_call(given, "detach", "item") and not given.args:
            fixes = [replacement(source, given, source.segment(given.func.value))]
            text = message("step.detached", loss=source.segment(given.func.value), call=f"{given.func.attr}()")
            yield Finding(source.span(given), text, (), fixes)


def _gives_nothing(step: ast.FunctionDef) -> bool:
    """Whether a method computes something and returns none of it: one that only raises, or is empty, is meant for others."""
    returns = any(part.value is not None for part in nodes_in(step, ast.Return))
    ends = step.body[-1]
    empty = isinstance(ends, ast.Raise | ast.Pass) or (is_remark(ends))
    return not returns and not empty and not contains(step, ast.Yield)


def _finding(analysis: Analysis, step: ast.FunctionDef) -> Finding:
    source = analysis.source
    at = name_span(source, step)
    losses = [part for part in of_kind(step.body, ast.Assign) if is_binding(part) and "loss" in part.targets[0].id]
    fixes = []
    if losses and is_binding(losses[-1]):
        line = f"return {losses[-1].targets[0].id}"
        fixes = [Candidate(message("fix.insert", text=line), (edits.insert_line_after(source, step.body[-1], line),))]
    return Finding(at, message("step.no_loss"), (), fixes)


RULE = Rule(FAULTS[CODE], find)

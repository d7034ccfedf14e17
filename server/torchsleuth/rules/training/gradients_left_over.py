"""gradients-left-over: the gradients of the last batches of an epoch go into the first step of the next one.

What it finds
    Accumulation that steps after every k-th batch, counted anew in each epoch, over a number of batches that k does not divide, where
    neither a step nor zero_grad() follows the loop over the batches.
Why it hurts
    The batches left over make no step of their own. Their gradients stay, and the first step of the next epoch has those of up to
    twice as many batches as all others, half of them of older weights.
Example
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):             # 10 batches
            (loss_of(x, y) / 4).backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
Use instead
    if (i + 1) % 4 == 0 or i + 1 == len(loader):
Fix safety
    It makes one more step in each epoch; and so it is not safe.
References
    torch.optim.Optimizer.zero_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.evidence.loops import loop_statement, within
from torchsleuth.rules.evidence.schedules import every_kth, iterations
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import is_binary, is_function_call, is_literal, is_name
from torchsleuth.tensors.dims import is_number

CODE = "TS552"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    for step in analysis.events("step"):
        decided = every_kth(analysis, step) if len(step.loops) > 1 else None
        loop = as_kind(loop_statement(analysis, step.loops[-1]), ast.For) if decided is not None else None
        if decided is None or loop is None:
            continue
        condition, site = decided
        source, index = site.source, analysis.index(site.span.path)
        times, batches = held(condition, site.scene), iterations(step.loops[-1])
        test = next((one.test for one in of_kind(reversed(index.trail(condition)), ast.If)), None)
        if test is None or source.span(test) in reported or not _counts(test, condition, loop):
            continue
        if not is_number(times) or not is_number(batches) or times < 2 or not batches % times:
            continue
        if not _is_cleared(analysis, step):
            reported.add(source.span(test))
            text = message("accumulate.left_over", rest=batches % times, batches=batches, times=times)
            yield Finding(source.span(test), text, (), tuple(_stepping_last(analysis, site.span.path, test, loop)))


def _counts(test: ast.expr, condition: ast.expr, loop: ast.For) -> bool:
    """Whether this alone decides, and counts the batches of one epoch: ``(i + 1) % k == 0`` in ``for i, … in enumerate(…)``."""
    match test:
        case ast.Compare(left=ast.BinOp(left=counter, op=ast.Mod(), right=right), ops=[ast.Eq()], comparators=[other]):
            counter = counter.left if is_binary(counter, ast.Add) else counter
            number = as_kind(loop.target.elts[0], ast.Name) if isinstance(loop.target, ast.Tuple) else None
            if number is None or not is_function_call(loop.iter, "enumerate"):
                return False
            zero = is_literal(other, 0) or isinstance(other, ast.BinOp)
            return right is condition and zero and is_name(counter, number.id)
    return False


def _is_cleared(analysis: Analysis, step: Event) -> bool:
    """Whether something steps, or clears the gradients, between one epoch and the next."""
    batches, epochs = step.loops[-1], step.loops[-2]
    return any(
        event.kind in ("step", "zero_grad")
        and within(event, epochs)
        and not any(point.execution == batches.execution or point.span == batches.span for point in event.loops)
        for event in analysis.trace.events
    )


def _stepping_last(analysis: Analysis, path: str, test: ast.expr, loop: ast.For) -> Iterator[Candidate]:
    """A step behind the last batch, too."""
    source, call = analysis.source_of(path), as_kind(loop.iter, ast.Call)
    if call is not None and len(call.args) == 1 and not call.keywords and isinstance(loop.target, ast.Tuple):
        text = f"{source.segment(test)} or {source.segment(loop.target.elts[0])} + 1 == len({source.segment(call.args[0])})"
        yield replacement(source, test, text, safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

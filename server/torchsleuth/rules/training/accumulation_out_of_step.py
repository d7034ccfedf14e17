"""accumulation-out-of-step: inside of accumulate(), something is done at other batches than those with which Accelerate steps.

What it finds
    `accelerator.clip_grad_norm_()` with every batch inside of `accelerator.accumulate()`, where only each fourth one is stepped;
    and `if step % 4 == 0: optimizer.step()` there, which asks for the batches in which the accelerator leaves steps out.
Why it hurts
    What has been added up so far is clipped again and again, so that the first batches of each step weigh less. A step that is
    asked for in the wrong batches is never taken but at the end of an epoch: the model hardly learns.
Example
    with accelerator.accumulate(model):
        loss = criterion(model(x), y)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
Use instead
    with accelerator.accumulate(model):
        loss = criterion(model(x), y)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
Fix safety
    Safe: the accelerator knows with which batches it steps.
References
    "Gradient accumulation" in the Accelerate documentation
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.accelerate import ACCELERATOR
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.accelerators import accumulated, conditions_in_region, name_of
from torchsleuth.rules.evidence.loops import is_alone, statement_of
from torchsleuth.rules.evidence.numbers_written import number_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, called, is_binary, is_name, plain_name
from torchsleuth.values import Site

CODE = "TS592"
_CLIPS = (f"{ACCELERATOR}.clip_grad_norm_", f"{ACCELERATOR}.clip_grad_value_")


def find(analysis: Analysis) -> Iterator[Finding]:
    steps = accumulated(analysis)
    if steps is not None:
        yield from _clipped(analysis, steps)
        yield from _stepped(analysis, steps)


def _clipped(analysis: Analysis, steps: int) -> Iterator[Finding]:
    """Gradients that are clipped with each batch."""
    for call in analysis.calls_at_places(*_CLIPS):
        region, statement = conditions_in_region(analysis, call.site), statement_of(analysis, call.site)
        if region is None or region[0] or statement is None or call.given(1, "max_norm") == math.inf:
            continue
        accelerator, path = name_of(call), call.site.span.path
        fixes = []
        if accelerator is not None and is_alone(statement, analysis, path):
            header = f"if {accelerator}.sync_gradients:"
            changes = edits.wrap_all(analysis.source_of(path), [statement], header)
            fixes = [Candidate(message("fix.wrap", text=header), changes)]
        yield Finding(call.site.span, message("accumulate.clipped", steps=steps), (), fixes)


def _stepped(analysis: Analysis, steps: int) -> Iterator[Finding]:
    """Steps under a test of the batch's number that holds in none in which the accelerator steps."""
    seen: set[Span] = set()
    for event in analysis.events("step"):
        region = conditions_in_region(analysis, event.site)
        if region is None or len(region[0]) != 1 or event.site.span in seen:
            continue
        branch, loop = region[0][0], first_of(reversed(region[1]), ast.For)
        first = _first_number(loop) if loop is not None else None
        if loop is None or first is None or branch.orelse or not _never(branch.test, loop, first, steps, event.site):
            continue
        seen.add(event.site.span)
        source = event.site.source
        text = message("accumulate.never", test=source.on_one_line(branch.test), steps=steps)
        yield Finding(source.span(branch.test), text, (), tuple(_always(analysis, branch, event)))


def _first_number(loop: ast.For) -> int | None:
    """The number of the first batch in ``for i, batch in enumerate(loader)``, None where the loop is another one."""
    if called(loop.iter) != "enumerate" or not isinstance(loop.iter, ast.Call):
        return None
    start = argument_of(loop.iter, 1, "start")
    if start is None:
        return 0
    return start.value if isinstance(start, ast.Constant) and type(start.value) is int else None


def _never(test: ast.expr, loop: ast.For, first: int, steps: int, site: Site) -> bool:
    """Whether ``(i + 1) % k == 0`` holds for no batch with which the accelerator steps: each k-th one, and the last."""
    wanted = 0
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        right = number_of(test.comparators[0], site.scene)
        if right is None:
            return False
        test, wanted = test.left, int(right)
    else:
        return False
    if not isinstance(test, ast.BinOp) or not is_binary(test, ast.Mod):
        return False
    every, offset = number_of(test.right, site.scene), _offset(test.left, loop)
    if every is None or every < 1 or offset is None:
        return False
    batches = range(math.lcm(int(every), steps) * 2)
    return not any((one + 1) % steps == 0 and (one + first + offset) % int(every) == wanted for one in batches)


def _offset(node: ast.expr, loop: ast.For) -> int | None:
    """The number that is added to that of the batch: 1 in ``i + 1``."""
    name = plain_name(loop.target.elts[0]) if isinstance(loop.target, ast.Tuple) else None
    if name is None:
        return None
    if is_name(node, name):
        return 0
    if isinstance(node, ast.BinOp) and is_binary(node, ast.Add) and is_name(node.left, name):
        added = node.right
        return added.value if isinstance(added, ast.Constant) and type(added.value) is int else None
    return None


def _always(analysis: Analysis, branch: ast.If, event: Event) -> Iterator[Candidate]:
    """``if accelerator.sync_gradients:``, by the accelerator's own count."""
    around = analysis.trail(event.site.span.path, branch)
    region = first_of(reversed(around), ast.With)
    for item in region.items if region is not None else ():
        manager = item.context_expr
        if isinstance(manager, ast.Call) and isinstance(manager.func, ast.Attribute):
            source = event.site.source
            new = f"{source.segment(manager.func.value)}.sync_gradients"
            title = message("fix.replace", old=source.on_one_line(branch.test), new=new)
            yield Candidate(title, (edits.replace(source, branch.test, new),))


RULE = Rule(FAULTS[CODE], find)

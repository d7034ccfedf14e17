"""closure-missing: an optimizer that evaluates the loss by itself, and is not told how.

What it finds
    step() of LBFGS without a closure.
Why it hurts
    TypeError "step() missing 1 required positional argument: 'closure'".
Example
    optimizer = torch.optim.LBFGS(model.parameters())
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
Use instead
    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        return loss
    loss = optimizer.step(closure)
Fix safety
    Unsafe: the lines from zero_grad() to backward() become the closure, which each step calls several times.
References
    torch.optim.LBFGS
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import plain_name
from torchsleuth.values import LibraryObject, Site

CODE = "TS526"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.UNTOLD):
        node, subject = misuse.site.call, as_kind(misuse.value, LibraryObject)
        if subject is not None and subject.type_name == "LBFGS":
            name = receiver_text(misuse.site) or "the optimizer"
            text = message("step.closure", optimizer=f"`{name}`")
            fixes = tuple(_enclosed(analysis, misuse.site, node)) if node is not None else ()
            yield Finding(misuse.site.span, text, (), fixes)


def _enclosed(analysis: Analysis, step: Site, call: ast.Call) -> Iterator[Candidate]:
    """The lines above the step, from what clears the gradients to the backward(), as a closure."""
    path = step.span.path
    source, statement = analysis.source_of(path), statement_of(analysis, step)
    around = analysis.trail(path, statement) if statement is not None else []
    block: list[ast.stmt] = getattr(around[-2], "body", []) if len(around) > 1 else []
    if statement not in block or not isinstance(statement, ast.Expr) or statement.value is not call:
        return
    kinds = {
        id(held): event.kind
        for event in analysis.trace.events
        if event.kind in ("zero_grad", "backward", "forward")
        and (held := statement_of(analysis, event.site)) is not None
    }
    end = block.index(statement)
    begin = end
    while (
        begin > 0
        and isinstance(block[begin - 1], ast.Expr | ast.Assign | ast.AugAssign)
        and _needed(block, begin, kinds)
    ):
        begin -= 1
    body = block[begin:end]
    losses = [_receiver(part) for part in body if kinds.get(id(part)) == "backward"]
    if len(losses) != 1 or losses[0] is None or "zero_grad" not in {kinds.get(id(part)) for part in body}:
        return
    name = losses[0]
    header = edits.wrap_all(source, body, "def closure():")
    after = edits.insert_line_after(source, body[-1], f"    return {name}")
    used = edits.replace(source, statement, f"{name} = {source.segment(call.func)}(closure)")
    yield Candidate(message("fix.closure", line=body[0].lineno), (*header, after, used), safe=False)


def _needed(block: list[ast.stmt], begin: int, kinds: dict[int, str]) -> bool:
    """Whether what is above a statement belongs to the closure: until both the clearing and the forward are in it."""
    have = {kinds.get(id(part)) for part in block[begin:]}
    return not {"zero_grad", "forward", "backward"} <= have


def _receiver(statement: ast.stmt) -> str | None:
    call = as_kind(statement.value, ast.Call) if isinstance(statement, ast.Expr) else None
    function = as_kind(call.func, ast.Attribute) if call is not None else None
    held = function.value if function is not None else None
    return plain_name(held)


RULE = Rule(FAULTS[CODE], find)

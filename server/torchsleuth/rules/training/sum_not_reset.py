"""sum-not-reset: a mean over one pass of a loader, of a sum that goes on from pass to pass.

What it finds
    `running += loss.item()` in a loop over a loader, inside of a loop over epochs, and `running / len(loader)` behind it, where
    `running` is set to zero before the epochs and nowhere else.
Why it hurts
    What is reported for each epoch is the sum of the means of all epochs so far: the loss seems to rise while it falls, and a
    comparison with the best one never holds again. Nothing is raised.
Example
    running = 0.0
    for epoch in range(10):
        for x, y in loader:
            running += step(x, y)
        print(running / len(loader))
Use instead
    for epoch in range(10):
        running = 0.0
        for x, y in loader:
            running += step(x, y)
        print(running / len(loader))
Fix safety
    Safe: the sum begins anew where the pass does.
References
    "Training with PyTorch" in the PyTorch tutorials
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import gone_through
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    bindings_of,
    is_assignment,
    is_literal,
    is_name,
    is_reference,
    names_in,
    nodes_in,
    stored_in,
)

CODE = "TS557"
_AROUND = ("enumerate", "tqdm", "trange", "track")
"""Functions that go through what they are given first."""


def find(analysis: Analysis) -> Iterator[Finding]:
    index = analysis.index(analysis.source.path)
    for epochs in index.of_type(ast.For):
        for place, inner in enumerate(epochs.body):
            if isinstance(inner, ast.For) and not names_in(inner.iter) & stored_in(epochs):
                for added in of_kind(inner.body, ast.AugAssign):
                    mean = _mean(epochs, epochs.body[place + 1 :], inner, added)
                    begun = _begun(index.trail(epochs), added) if mean is not None else None
                    if mean is not None and begun is not None and _grows_alone(epochs, added):
                        yield _finding(analysis, inner, added, mean, begun)


def _mean(epochs: ast.For, behind: list[ast.stmt], inner: ast.For, added: ast.AugAssign) -> ast.BinOp | None:
    """``running / len(loader)`` behind the loop over the loader, which is not divided by the number of epochs as well."""
    if not isinstance(added.op, ast.Add) or not isinstance(added.target, ast.Name):
        return None
    loader = gone_through(inner, _AROUND)
    ends = ("", ".dataset") if is_reference(loader) else ()
    lengths = {f"len({ast.unparse(loader)}{end})" for end in ends}
    changing = stored_in(epochs) - {added.target.id}
    for statement in behind:
        for whole in nodes_in(statement, ast.BinOp):
            parts = list(nodes_in(whole, ast.BinOp))
            if isinstance(statement, ast.AugAssign) or names_in(whole) & changing:
                break  # it begins with the outermost
            for part in parts:
                if isinstance(part.op, ast.Div) and is_name(part.left, added.target.id):
                    if ast.unparse(part.right) in lengths:
                        return part
    return None


def _begun(trail: list[ast.AST], added: ast.AugAssign) -> ast.Assign | None:
    """The statement that sets the sum to zero, in the block of the loop over epochs and in front of it."""
    loop = trail[-1]
    block = next((body for name in ("body", "orelse") if loop in (body := getattr(trail[-2], name, []))), [])
    for part in block[: block.index(loop)] if loop in block else ():
        if is_assignment(part) and is_name(part.targets[0], _name(added)):
            return part if is_literal(part.value, 0) or is_literal(part.value, 0.0) else None
    return None


def _name(added: ast.AugAssign) -> str:
    return added.target.id if isinstance(added.target, ast.Name) else ""


def _grows_alone(epochs: ast.For, added: ast.AugAssign) -> bool:
    """Whether nothing else in the loop gives the sum a value."""
    return bindings_of(_name(added), epochs) == [added.target] and not any(nodes_in(epochs, ast.Global, ast.Nonlocal))


def _finding(analysis: Analysis, inner: ast.For, added: ast.AugAssign, mean: ast.BinOp, begun: ast.Assign) -> Finding:
    source = analysis.source
    text = message("sum.not_reset", name=_name(added), line=begun.lineno)
    places = (source.span(begun).related(message("sum.begun")),)
    line = source.segment(begun)
    edit = edits.insert_line_before(source, inner, line)
    fix = Candidate(message("fix.insert", text=line), (edit,))
    return Finding(source.span(mean), text, places, (fix,))


RULE = Rule(FAULTS[CODE], find)

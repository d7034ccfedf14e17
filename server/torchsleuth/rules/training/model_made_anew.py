"""model-made-anew: a model and its optimizer that are made again in each epoch.

What it finds
    A loop over epochs in which each iteration makes the optimizer of a model that is new as well, and goes through the data once.
Why it hurts
    What an epoch has learnt is thrown away by the next: the model is that of one epoch, however many there are. Nothing is raised.
Example
    for epoch in range(10):
        model = Net()
        optimizer = torch.optim.Adam(model.parameters())
        for x, y in loader:
            ...
Use instead
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        for x, y in loader:
            ...
Fix safety
    Safe: both are made once, before the loop.
References
    torch.optim.Optimizer, "Constructing it"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import is_optimizer, trained_parts
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_alone, loop_statement, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_binding, is_name, names_in, nodes_in, stored_in
from torchsleuth.values import LibraryObject

CODE = "TS567"
_TELLS = ("print", "set_description", "set_postfix", "info", "write", "log", "add_scalar")
"""Functions that tell of an epoch and take no part in it."""
_COLLECTS = ("append", "add", "insert")


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in analysis.calls_at_places(*(f".{one.type_name}" for one in analysis.trace.optimizers)):
        optimizer = as_kind(call.result, LibraryObject)
        here = call.site.span.path == analysis.source.path and call.loops and call.certain
        if optimizer is None or not here or not is_optimizer(optimizer):
            continue
        loop = as_kind(loop_statement(analysis, call.loops[-1]), ast.For)
        statement = statement_of(analysis, call.site)
        if loop is None or not isinstance(statement, ast.Assign) or statement not in loop.body:
            continue
        model = _model(loop, statement)
        if model is None or _is_kept(loop, model):
            continue
        if _is_epoch(loop) and _goes_through_once(analysis, call, optimizer):
            yield _finding(analysis, loop, model, statement)


def _model(loop: ast.For, made: ast.Assign) -> ast.Assign | None:
    """The statement of the loop that makes the model whose parameters an optimizer is given."""
    given = names_in(made.value)
    inner = [part for part in of_kind(loop.body, ast.Assign) if is_binding(part) and isinstance(part.value, ast.Call)]
    return next((part for part in inner if part is not made and stored_in(part) <= given and _is_plain(part)), None)


def _is_kept(loop: ast.For, model: ast.Assign) -> bool:
    """Whether a loop collects the models that it makes."""
    collected = (part for call in nodes_in(loop, ast.Call) if called(call) in _COLLECTS for part in call.args)
    return any(is_name(part, *stored_in(model)) for part in collected)


def _is_plain(made: ast.Assign) -> bool:
    """``model = Net(10)``: by its class, and not by a function that may load it."""
    return called(made.value)[:1].isupper()


def _is_epoch(loop: ast.For) -> bool:
    """Whether the loop counts epochs, and uses the count only to tell of it."""
    names = stored_in(loop.target)
    if not any("epoch" in name.lower() for name in names):
        return False
    used = [part for part in loop.body if names & names_in(part)]
    return all(isinstance(part, ast.Expr) and called(part.value) in _TELLS for part in used)


def _goes_through_once(analysis: Analysis, call: LibraryCall, optimizer: LibraryObject) -> bool:
    """Whether the optimizer steps in a loop of its own right inside, and nothing keeps it, or what it trains."""
    steps = [event for event in analysis.events("step") if event.subject is optimizer]
    depth = len(call.loops)
    kept = {optimizer.identity, id(optimizer)} | {id(part) for part in trained_parts(optimizer)}
    inside = all(len(step.loops) == depth + 1 and step.loops[: depth - 1] == call.loops[: depth - 1] for step in steps)
    return bool(steps) and inside and not kept & set(analysis.trace.escaped)


def _finding(analysis: Analysis, loop: ast.For, model: ast.Assign, optimizer: ast.Assign) -> Finding:
    source = analysis.source
    both = sorted((model, optimizer), key=lambda part: part.lineno)
    fixes = []
    if all(is_alone(part, analysis, source.path) for part in both):
        indent = edits.next_line(source, loop.lineno)
        text = indent.join(source.segment(part) for part in both)
        changes = (
            edits.insert_line_before(source, loop, text),
            *(edits.remove_line(source, part.lineno) for part in both),
        )
        fixes = [Candidate(message("fix.both_once", line=loop.lineno), changes)]
    name = source.segment(model.targets[0])
    place = source.span(loop.iter).related(message("model.epochs"))
    return Finding(source.span(model), message("model.anew", name=name), (place,), fixes)


RULE = Rule(FAULTS[CODE], find, of_absence=True)

"""model-made-anew: a model that is made again in each epoch, or of which a function still has the one before.

What it finds
    A loop over epochs in which each iteration makes the optimizer of a model that is new as well, and goes through the data once.
    A function with a model for the default of a parameter (`def accuracy(net=model)`), which is called without it after the name was
    given to another model, and that was trained.
Why it hurts
    What an epoch has learnt is thrown away by the next: the model is that of one epoch, however many there are. A default is
    the model of the moment in which the function was defined: what is judged is the old one. Nothing is raised.
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
from torchsleuth.rules.evidence.loops import is_alone, is_trained, loop_statement, statement_of, trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    defaults_of,
    is_binding,
    is_definition,
    is_name,
    names_in,
    nodes_in,
    stored_in,
)
from torchsleuth.values import LibraryObject, is_module

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
    yield from _in_default(analysis)


def _in_default(analysis: Analysis) -> Iterator[Finding]:
    """A function whose default is a model that was never trained, and whose name is that of another by now."""
    seen: set[int] = set()
    for event in analysis.events("forward"):
        scene, old = event.site.scene, event.subject
        function, call = scene.function, scene.call
        if function is None or call is None or scene.caller is None or not is_definition(function.node):
            continue
        if not is_module(old) or is_trained(analysis, old) or id(function.node) in seen:
            continue
        for parameter, default in defaults_of(function.node.args).items():
            named = isinstance(default, ast.Name) and scene.names.get(parameter) is old
            new = scene.globals.get(default.id) if named and isinstance(default, ast.Name) else None
            steps = [step for step in analysis.events("step") if step.index < event.index]
            if new is old or not is_module(new) or not any(trained_by(step.subject, new) for step in steps):
                continue
            if not isinstance(default, ast.Name) or call.args or call.keywords:
                continue
            seen.add(id(function.node))
            source = scene.caller.source
            text = message("model.default", function=function.name, name=default.id)
            place = analysis.source_of(function.path).span(default).related(message("model.default.made"))
            fix = added_argument(source, call, f"{parameter}={default.id}")
            yield Finding(source.span(call), text, (place,), (fix,))


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

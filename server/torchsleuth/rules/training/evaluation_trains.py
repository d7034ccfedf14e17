"""evaluation-trains: the evaluation goes backward, and the optimizer follows its gradients.

What it finds
    A backward() of an evaluation: the model is in evaluation mode, after an eval() for it, rounds of training come before
    and after it in the same loop, over other batches, and a step of the same optimizer follows before the gradients
    are cleared. The step is mostly in the evaluation, too; or its gradients wait for the first step of the next training.
Why it hurts
    The model is trained on the data that it is measured with. The measure gets better and better, and says nothing about
    data that the model has not seen. Nothing is raised.
Example
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        model.eval()
        for x, y in val_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
Use instead
        model.eval()
        with torch.no_grad():
            for x, y in val_loader:
                loss = criterion(model(x), y)
Fix safety
    Unsafe: the measure gets worse, and with it what is chosen by it.
References
    torch.nn.Module.eval, torch.no_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.evaluations import Trained, trained_evaluations
from torchsleuth.rules.evidence.loops import is_alone, is_simple, name_in, own_blocks, place_in, statement_of
from torchsleuth.rules.evidence.modules import named
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits

CODE = "TS547"
_UPDATING = ("zero_grad", "backward", "step", "clip", "scale", "unscale", "scaler_step", "scaler_update")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for trained in trained_evaluations(analysis):
        backward = trained.backward
        if backward.site.span not in seen:
            seen.add(backward.site.span)
            switch, step = trained.switch.site, trained.step.site
            text = message("evaluation.trains", line=switch.span.start.line)
            places = (
                switch.span.related(message("train.missing.eval")),
                step.span.related(message("evaluation.step")),
            )
            yield Finding(backward.site.span, text, places, _repairs(analysis, trained))


def _repairs(analysis: Analysis, trained: Trained) -> Iterator[Candidate]:
    """The evaluation without what updates, or the update in training mode alone, where training comes by there, too."""
    backward = trained.backward
    path = backward.site.span.path
    statement = statement_of(analysis, backward.site)
    block = _block(analysis, statement, path) if statement is not None else []
    inside = [event for event in analysis.trace.events if event.kind in _UPDATING]
    spans = {event.site.span for event in inside if event.site.span.path == path}
    source = analysis.source_of(path)
    updating = [one for one in of_kind(block, ast.Expr) if source.span(one.value) in spans]
    if statement not in updating or not all(is_simple(one, analysis, path) for one in updating):
        return
    shared = any(event.site.span == backward.site.span and _is_training(analysis, event) for event in inside)
    if not shared and all(is_alone(one, analysis, path) for one in updating):
        lines = [one.lineno for one in updating]
        title = message("fix.remove_lines", lines=", ".join(map(str, lines)))
        removed = tuple(edits.remove_line(source, line) for line in lines)
        yield Candidate(title, (*removed, *_unrecorded(analysis, trained, block)), safe=False)
    elif shared and (name := _module(analysis, trained)):
        first, last = block.index(updating[0]), block.index(updating[-1])
        changes = edits.wrap_all(source, block[first : last + 1], f"if {name}.training:")
        title = message("fix.only_in_training", name=name)
        yield Candidate(title, (*changes, *_round_unrecorded(analysis, trained)), safe=False)
        yield Candidate(title, changes, safe=False)


def _unrecorded(analysis: Analysis, trained: Trained, block: list[ast.stmt]) -> tuple[Edit, ...]:
    """``no_grad`` around the forwards, where they stand among the same statements."""
    backward, path = trained.backward, trained.backward.site.span.path
    own = [one for one in analysis.events("forward") if one.forward_id in backward.history]
    statements = [statement_of(analysis, one.site) for one in own if one.site.scene == backward.site.scene]
    within = [one for one in block if one in statements and is_simple(one, analysis, path)]
    if not within:
        return ()
    manager, imports = named(analysis, backward.site, "torch.no_grad")
    source = analysis.source_of(path)
    return (*imports, *(edit for one in within for edit in edits.wrap(source, one, f"with {manager}():")))


def _round_unrecorded(analysis: Analysis, trained: Trained) -> tuple[Edit, ...]:
    """``no_grad`` around the call that evaluates, beside the eval()."""
    switch = trained.switch.site
    call = place_in(trained.backward.site, switch.scene.function)
    statement = statement_of(analysis, call) if call is not None and call is not trained.backward.site else None
    if call is None or statement is None or not is_simple(statement, analysis, call.span.path):
        return ()
    manager, imports = named(analysis, call, "torch.no_grad")
    return (*imports, *edits.wrap(call.source, statement, f"with {manager}():"))


def _block(analysis: Analysis, statement: ast.stmt, path: str) -> list[ast.stmt]:
    """The statements among which one stands."""
    around = analysis.index(path).parents.get(statement)
    return next((block for block in own_blocks(around) if statement in block), []) if around is not None else []


def _is_training(analysis: Analysis, backward: Event) -> bool:
    return any(one.training is True for one in analysis.events("forward") if one.forward_id in backward.history)


def _module(analysis: Analysis, trained: Trained) -> str | None:
    """The name that the function that goes backward has for the model, or a part of it."""
    scene = trained.backward.site.scene
    own = [one.subject for one in analysis.events("forward") if one.forward_id in trained.backward.history]
    names = [name for module in own if (name := name_in(scene, module)) is not None]
    return min(names, key=lambda name: scene.function is not None and name in scene.globals, default=None)


RULE = Rule(FAULTS[CODE], find)

"""freeze-undone: parameters that are frozen, and unfrozen again before anything is trained.

What it finds
    `requires_grad = False` on parameters of a model, and later a loop or a call that sets it to True for all of them, with
    no training in between.
Why it hurts
    The layers that were to stay as they are trained with the others: slower, in more memory, and often to worse results. Nothing
    fails.
Example
    for p in model.backbone.parameters():
        p.requires_grad = False
    for p in model.parameters():
        p.requires_grad = True
        group.append(p)
Use instead
    for p in model.backbone.parameters():
        p.requires_grad = False
    for p in model.parameters():
        group.append(p)
Fix safety
    Safe: the parameters are trainable as they are made.
References
    torch.nn.Module.requires_grad_
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.trace import Switch
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_alone, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, only
from torchsleuth.syntax import edits

CODE = "TS541"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    switches = analysis.trace.switches
    for position, thaw in enumerate(switches):
        if not thaw.value or thaw.some or not thaw.certain or thaw.site.span in reported:
            continue
        freeze = next((one for one in switches[:position] if _undoes(analysis, thaw, one, switches[:position])), None)
        if freeze is not None:
            reported.add(thaw.site.span)
            text = message("freeze.undone", line=freeze.site.span.start.line)
            places = (freeze.site.span.related(message("freeze.here")),)
            yield Finding(thaw.site.span, text, places, _removed(analysis, thaw))


def _undoes(analysis: Analysis, thaw: Switch, freeze: Switch, before: list[Switch]) -> bool:
    """Whether a switch freezes what a later one unfreezes, in the same run, with nothing trained or computed in between."""
    if freeze.value or not any(part is freeze.module for part in descendants(thaw.module)):
        return False
    between = analysis.trace.events[freeze.after : thaw.after]
    if any(event.kind in ("forward", "backward", "step") for event in between):
        return False
    if _entry(freeze) is not _entry(thaw) or freeze.site.scene.function is not None and _makes(freeze):
        return False
    # One that was frozen and unfrozen before is switched on purpose.
    earlier = [one for one in before if one.site.span == thaw.site.span]
    return not earlier and freeze.site.span != thaw.site.span and not _is_toggled(thaw)


def _entry(switch: Switch) -> object:
    """The function in which the run began that led there."""
    frame, function = switch.site.scene, switch.site.scene.function
    while frame.caller is not None:
        frame = frame.caller
        function = frame.function or function
    return function


def _makes(switch: Switch) -> bool:
    """Whether the parameters are frozen where the model is made: that is how it comes, and callers may have it otherwise."""
    frame = switch.site.scene
    while True:
        if frame.function is not None and frame.function.name == "__init__" and frame.instance() is not None:
            owner = frame.instance()
            if owner is not None and owner.is_module:
                return True
        if frame.caller is None:
            return False
        frame = frame.caller


def _is_toggled(thaw: Switch) -> bool:
    """Whether parameters are unfrozen by a function that is made for that: it has nothing else in it."""
    function = thaw.site.scene.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return False
    body = [
        one for one in function.node.body if not isinstance(one, ast.Expr) or not isinstance(one.value, ast.Constant)
    ]
    loop = only(body)
    return isinstance(loop, ast.For) and len(loop.body) == 1 or isinstance(loop, ast.Expr)


def _removed(analysis: Analysis, thaw: Switch) -> Iterator[Candidate]:
    """Without the statement, or without the loop that holds nothing else."""
    path = thaw.site.span.path
    source, statement = analysis.source_of(path), statement_of(analysis, thaw.site)
    if statement is None:
        return
    around = as_kind(analysis.index(path).parents.get(statement), ast.For)
    if around is not None and around.body == [statement] and not around.orelse:
        if around.lineno + 1 == statement.lineno == statement.end_lineno:
            changes = (edits.remove_line(source, around.lineno), edits.remove_line(source, statement.lineno))
            text = source.segment(statement)
            yield Candidate(message("fix.remove_line", text=text, line=statement.lineno), changes)
    elif is_alone(statement, analysis, path):
        text = source.segment(statement)
        alone = (edits.remove_line(source, statement.lineno),)
        yield Candidate(message("fix.remove_line", text=text, line=statement.lineno), alone)


RULE = Rule(FAULTS[CODE], find)

"""targets-fed-in-evaluation: a model that is evaluated while it is fed the targets at random.

What it finds
    A call in evaluation mode, or without gradients, of a module whose forward takes its next input from the targets where a draw is below a
    parameter, such as `teacher_forcing_ratio=0.5`: the call leaves this out, so that its default counts.
Why it hurts
    Half of the steps see the right answer of the step before. The scores are better than what the model gives on its own, and differ from
    one evaluation to the next. Nothing is raised.
Example
    with torch.no_grad():
        output = model(source, target)
Use instead
    with torch.no_grad():
        output = model(source, target, teacher_forcing_ratio=0.0)
Fix safety
    Unsafe: scores get worse, and are those of the model.
References
    "NLP From Scratch: Translation with a Sequence to Sequence Network and Attention" in the PyTorch tutorials
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import called_text
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import (
    by_position,
    called,
    defaults_of,
    is_attribute,
    is_name,
    is_spread,
    literal,
    loads,
    nodes_in,
    stored_in,
)
from torchsleuth.values import ClassValue, Function, Instance

CODE = "TS590"
_DRAWS = frozenset({"random", "rand", "uniform", "bernoulli"})
"""The last words of functions that draw a number between 0 and 1."""


def find(analysis: Analysis) -> Iterator[Finding]:
    told: set[Span] = set()
    for event in analysis.events("forward"):
        evaluates = event.training is False or event.grad is False
        forward = _forward(event) if evaluates and event.site.span not in told else None
        call = event.site.call
        if forward is None or call is None or is_spread(call.args) or any(one.arg is None for one in call.keywords):
            continue
        node, path = forward
        share = _share_of_targets(node, _given(node, call))
        if share is not None:
            told.add(event.site.span)
            name, default = share
            text = message(
                "targets.fed", module=f"`{called_text(event) or 'the model'}`", name=name, share=ast.unparse(default)
            )
            where = analysis.source_of(path).span(default).related(message("targets.fed.default"))
            fix = added_argument(event.site.source, call, f"{name}=0.0", safe=False)
            yield Finding(event.site.span, text, (where,), (fix,))


def _forward(event: Event) -> tuple[ast.FunctionDef, str] | None:
    """The forward of a module of the user's, and its file."""
    subject = as_kind(event.subject, Instance)
    classes = of_kind(subject.cls.mro(), ClassValue) if subject is not None else ()
    found = as_kind(next((cls.slots["forward"] for cls in classes if "forward" in cls.slots), None), Function)
    node = as_kind(found.node, ast.FunctionDef) if found is not None else None
    return (node, found.path) if found is not None and node is not None else None


def _given(forward: ast.FunctionDef, call: ast.Call) -> set[str]:
    """The parameters that a call gives something for."""
    placed = [one.arg for one in by_position(forward.args)[1:]]
    return {*placed[: len(call.args)], *(one.arg for one in call.keywords if one.arg is not None)}


def _share_of_targets(forward: ast.FunctionDef, given: set[str]) -> tuple[str, ast.expr] | None:
    """The parameter that a draw is compared with, and its default, where that decides whether something else that is given is the
    next input, in evaluation as in training."""
    if any(is_attribute(part, "training") for part in ast.walk(forward)):
        return None
    for name, default in defaults_of(forward.args).items():
        value = as_kind(literal(default), int, float)
        if name in given or value is None or not 0 < value <= 1:
            continue
        tests = [part for part in nodes_in(forward, ast.Compare) if _draws_below(part, name)]
        drawn = {
            one for part in nodes_in(forward, ast.Assign) if part.value in tests for one in stored_in(*part.targets)
        }
        for choice in nodes_in(forward, ast.If, ast.IfExp):
            asked = any(part in tests or is_name(part, *drawn) for part in ast.walk(choice.test))
            if asked and any(loads(part) and part.id in given for part in nodes_in(choice, ast.Name)):
                return name, default
    return None


def _draws_below(test: ast.Compare, name: str) -> bool:
    """``random.random() < teacher_forcing_ratio``"""
    below = len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt | ast.LtE) and is_name(test.comparators[0], name)
    return below and any(called(part) in _DRAWS for part in nodes_in(test.left, ast.Call))


RULE = Rule(FAULTS[CODE], find)

"""trainer-setting-lost: a trainer that goes on, and does not do what it was set up for.

What it finds
    With Lightning's Trainer: a loss that is divided by the batches that the trainer accumulates, manual optimization whose module never calls step(), a `configure_gradient_clipping()` that clips nothing,
    `val_check_interval=1`, which validates after every batch, a loader for the validation of a module without `validation_step`, and a
    checkpoint that is resumed where no epoch is left.
Why it hurts
    Nothing is learnt, clipped, validated or trained, and nothing says so: at most a warning among many.
Example
    trainer = Trainer(val_check_interval=1)
Use instead
    trainer = Trainer(val_check_interval=1.0)
Fix safety
    Unsafe: it may have been meant.
References
    lightning.pytorch.Trainer
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse, Rejection
from torchsleuth.messages import message
from torchsleuth.rules.evidence import trainers
from torchsleuth.rules.evidence.uses import name_span
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Edit
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import is_binary, nodes_in
from torchsleuth.values import ClassValue, Function, Instance

CODE = "TS846"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.NOTICED):
        yield trainers.finding(analysis, misuse, _fixes(analysis, misuse))


def _fixes(analysis: Analysis, misuse: Misuse[Rejection]) -> Iterator[Candidate]:
    method = trainers.method_of(misuse)
    if misuse.value.reason == "divided_twice" and method is not None:
        source = analysis.source_of(method[0])
        for returned in nodes_in(method[1], ast.Return):
            if is_binary(returned.value, ast.Div):
                yield replacement(source, returned.value, source.segment(returned.value.left))
    if misuse.value.reason == "no_validation":
        yield from _named_otherwise(analysis, misuse)
    keyword = trainers.written(misuse)
    if misuse.value.reason == "every_batch" and keyword is not None:
        source, _, given = keyword
        yield replacement(source, given.value, "1.0", safe=False)


_ALIKE = ("val_step", "valid_step", "validate_step", "validation", "eval_step", "evaluation_step")


def _named_otherwise(analysis: Analysis, misuse: Misuse[Rejection]) -> Iterator[Candidate]:
    """A method of the module that was meant for it."""
    model = misuse.value.told[0] if misuse.value.told else None
    for owner in of_kind(model.cls.mro(), ClassValue) if isinstance(model, Instance) else ():
        for name in _ALIKE:
            method = as_kind(owner.slots.get(name), Function)
            if method is not None and isinstance(method.node, ast.FunctionDef):
                span = name_span(analysis.source_of(method.path), method.node)
                title = message("fix.replace", old=name, new="validation_step")
                yield Candidate(title, (Edit(span.path, span.start, span.end, "validation_step"),))


RULE = Rule(FAULTS[CODE], find)

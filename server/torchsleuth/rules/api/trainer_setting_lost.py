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
from torchsleuth.rules.evidence import trainers
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import is_binary, nodes_in

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
    keyword = trainers.written(misuse)
    if misuse.value.reason == "every_batch" and keyword is not None:
        source, _, given = keyword
        yield replacement(source, given.value, "1.0", safe=False)


RULE = Rule(FAULTS[CODE], find)

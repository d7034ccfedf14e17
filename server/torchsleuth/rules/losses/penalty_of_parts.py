"""penalty-of-parts: a gradient penalty that asks each place of an image for a gradient of length 1.

What it finds
    `(gradient.norm(2, dim=1) - 1) ** 2`, where `gradient` comes from `autograd.grad` and has more dimensions than samples and
    features: the length is that of the channels at each place, and not that of the whole gradient of a sample.
Why it hurts
    The penalty of WGAN-GP wants the gradient of each sample to have length 1. Taken at each place it wants a gradient that is as
    many times longer as there are places, and the critic becomes too steep. Nothing is raised.
Example
    gradient = torch.autograd.grad(score, mixed, torch.ones_like(score), create_graph=True)[0]
    penalty = ((gradient.norm(2, dim=1) - 1) ** 2).mean()
Use instead
    gradient = torch.autograd.grad(score, mixed, torch.ones_like(score), create_graph=True)[0]
    penalty = ((gradient.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
Fix safety
    Unsafe: the penalty becomes another one.
References
    Gulrajani et al., "Improved Training of Wasserstein GANs", 2017
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import shape_text
from torchsleuth.rules.evidence.operands import appended, operands
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import called, is_assignment, is_binary, is_literal, nodes_in, plain_name

CODE = "TS346"
_NORMS = frozenset({"norm", "vector_norm"})


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if operation.name not in _NORMS or operation.site.span in seen or not _is_of_channels(operation):
            continue
        used, index = operands(operation)[0], analysis.index(operation.site.span.path)
        written = used.node is not None and plain_name(used.node) in _gradients(operation.site.scene.scope)
        around = index.parents.get(index.same(operation.site.node) or operation.site.node)
        if written and is_binary(around, ast.Sub) and is_literal(around.right, 1) and used.node is not None:
            seen.add(operation.site.span)
            text = message("penalty.parts", gradient=used.text("the gradient"), shape=shape_text(used.spec))
            fix = appended(used.site, used.node, ".flatten(1)", safe=False)
            yield Finding(operation.site.span, text, (), (fix,))


def _is_of_channels(operation: Operation) -> bool:
    """Whether a norm is one along dimension 1 of more than two."""
    shape = operation.specs[0].shape if operation.specs else None
    axis = operation.given(3 if operation.target == "torch.nn.functional.normalize" else 2, "dim")
    return shape is not None and len(shape) > 2 and axis == 1


def _gradients(scope: ast.AST) -> set[str]:
    """The names that a function gives to what ``autograd.grad`` returns."""
    found: set[str] = set()
    for statement in nodes_in(scope, ast.Assign):
        value = statement.value.value if isinstance(statement.value, ast.Subscript) else statement.value
        if is_assignment(statement) and called(value) == "grad":
            target = statement.targets[0]
            found.update(name for part in nodes_in(target, ast.Name) if (name := part.id))
    return found


RULE = Rule(FAULTS[CODE], find)

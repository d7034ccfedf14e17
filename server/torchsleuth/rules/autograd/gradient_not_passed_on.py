"""gradient-not-passed-on: a function of one's own whose backward() does not use the gradient that it is given.

What it finds
    A subclass of `torch.autograd.Function` whose `backward()` never reads its parameters for incoming gradients, and returns gradients
    nevertheless.
Why it hurts
    What it returns is right only where nothing follows the function: where its result is weighted, averaged or goes into another
    layer, all of that is lost on the way back. The loss falls, with other weights than were written. Nothing is raised.
Example
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x
Use instead
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (2 * x)
Fix safety
    Unsafe: where the result has another shape than the input, the product is another one.
References
    torch.autograd.Function, "Extending PyTorch"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import subclasses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    by_position,
    contains,
    is_constant,
    is_primary,
    names_in,
    parts_of_tuple,
    returned_by,
)

CODE = "TS419"
_BASES = frozenset(
    ("torch.autograd.Function", "torch.autograd.function.Function", "torch.autograd.function.InplaceFunction")
)


def find(analysis: Analysis) -> Iterator[Finding]:
    for owner, _ in subclasses(analysis, _BASES.__contains__):
        for method in of_kind(owner.body, ast.FunctionDef):
            given = [one.arg for one in by_position(method.args)][1:]
            if method.name != "backward" or not given or method.args.vararg is not None:
                continue
            if not set(given) & names_in(*method.body) and not contains(method, ast.Raise):
                yield from _finding(analysis, owner, method, given)


def _finding(analysis: Analysis, owner: ast.ClassDef, method: ast.FunctionDef, given: list[str]) -> Iterator[Finding]:
    source, gradients = analysis.source, list(returned_by(method))
    parts = [part for one in gradients for part in parts_of_tuple(one) if not is_constant(part, type(None))]
    if not parts:
        return
    text = message("grad.dropped", gradient=given[0], function=owner.name)
    fixes: list[Candidate] = []
    if len(given) == 1 and len(gradients) == 1:
        texts = [source.segment(part) if is_primary(part) else f"({source.segment(part)})" for part in parts]
        changes = tuple(edits.replace(source, part, f"{given[0]} * {new}") for part, new in zip(parts, texts))
        title = message("fix.multiply_gradients", gradient=given[0])
        fixes.append(Candidate(title, changes, safe=False))
    yield Finding(source.span(gradients[0]), text, (), tuple(fixes))


RULE = Rule(FAULTS[CODE], find)

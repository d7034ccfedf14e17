"""inplace-on-leaf: a parameter is changed in place while autograd records.

What it finds
    `w -= lr * w.grad`, `w.add_(…)`, `w[0] = …`, `nn.init`-like changes by hand, on a tensor that requires grad and was
    not computed, outside torch.no_grad().
Why it hurts
    PyTorch raises "a leaf Variable that requires grad is being used in an in-place operation".
Example
    loss.backward()
    w -= 0.1 * w.grad
Use instead
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
Fix safety
    Safe: an update of a parameter is not itself to be differentiated.
References
    torch.no_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import faults, torch_name, written_name
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute
from torchsleuth.values.graph import AutogradFault

CODE = "TS404"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "leaf_in_place"):
        text = message("grad.leaf", tensor=written_name(analysis, fault))
        yield Finding(fault.at.span, text, (), _update(analysis, fault))


def _update(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    path = fault.at.span.path
    statement, torch = statement_of(analysis, fault.at), torch_name(fault.at)
    if statement is None or torch is None or not is_simple(statement, analysis, path):
        return
    source, header = analysis.source_of(path), f"with {torch}.no_grad():"
    wrapped = edits.wrap_all(source, _updates_around(analysis, statement, path), header)
    yield Candidate(message("fix.no_grad_update"), wrapped)


def _updates_around(analysis: Analysis, statement: ast.stmt, path: str) -> list[ast.stmt]:
    """The updates of other tensors beside this one, and what is done to gradients between them."""
    at_fault = [statement_of(analysis, fault.at) for fault in faults(analysis, "leaf_in_place")]
    body = next(
        (
            block
            for part in analysis.index(path).nodes
            for block in of_kind((getattr(part, "body", None), getattr(part, "orelse", None)), list)
            if statement in block
        ),
        [statement],
    )
    start = end = body.index(statement)
    while start > 0 and (body[start - 1] in at_fault or _is_about_grad(body[start - 1])):
        start -= 1
    while end + 1 < len(body) and (body[end + 1] in at_fault or _is_about_grad(body[end + 1])):
        end += 1
    around = body[start : end + 1]
    while around[0] not in at_fault:
        around = around[1:]
    while around[-1] not in at_fault:
        around = around[:-1]
    return around


def _is_about_grad(statement: ast.stmt) -> bool:
    """``x.grad.zero_()`` or ``x.grad = None``"""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "value", None)
    return isinstance(statement, ast.Assign | ast.Expr) and any(
        is_attribute(part, "grad") for part in ast.walk(target or statement)
    )


RULE = Rule(FAULTS[CODE], find)

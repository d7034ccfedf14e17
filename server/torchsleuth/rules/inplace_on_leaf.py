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

from collections.abc import Iterator

from torchsleuth.interp.graph import AutogradFault
from torchsleuth.messages import message
from torchsleuth.rules.graphs import faults, torch_name, written_name
from torchsleuth.rules.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS404"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "leaf_in_place"):
        text = message("grad.leaf", tensor=written_name(analysis, fault))
        yield Finding(fault.at.span, text, (), tuple(_update(analysis, fault)))


def _update(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    path = fault.at.span.path
    statement, torch = statement_of(analysis, fault.at), torch_name(fault.at)
    if statement is not None and torch is not None and is_simple(statement, analysis, path):
        wrapped = edits.wrap(analysis.source_of(path), statement, f"with {torch}.no_grad():")
        yield Candidate(message("fix.no_grad_update"), wrapped)


RULE = Rule(
    CODE,
    "inplace-on-leaf",
    "error",
    "autograd",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch

x, y = torch.randn(32, 3), torch.randn(32)
w = torch.zeros(3, requires_grad=True)
for step in range(10):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w -= 0.1 * w.grad
#   ^^^^^^^^^^^^^^^^^ TS404: `w` requires grad and is changed in place
    w.grad.zero_()
""",
            fixed="""
import torch

x, y = torch.randn(32, 3), torch.randn(32)
w = torch.zeros(3, requires_grad=True)
for step in range(10):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad.zero_()
""",
            good="""
import torch

x, y = torch.randn(32, 3), torch.randn(32)
w = torch.zeros(3, requires_grad=True)
for step in range(10):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad.zero_()
""",
        ),
    ),
)

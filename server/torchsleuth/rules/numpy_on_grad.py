"""numpy-on-grad: numpy() on a tensor that requires grad.

What it finds
    .numpy() on a parameter, or on anything computed from one while autograd records.
Why it hurts
    PyTorch raises "Can't call numpy() on Tensor that requires grad".
Example
    scores = model(x).cpu().numpy()
Use instead
    scores = model(x).detach().cpu().numpy()
Fix safety
    Safe: an array has no graph in any case.
References
    torch.Tensor.numpy
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.rules.graphs import faults, name_of
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS409"
_MOVES = frozenset({"cpu", "to", "float", "double", "clone", "contiguous"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "numpy"):
        candidates: list[Candidate] = []
        node = fault.at.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inner: ast.expr = node.func.value
            while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _MOVES:
                inner = inner.func.value
            source = analysis.source_of(fault.at.span.path)
            edit = edits.insert_after_node(source, inner, ".detach()")
            candidates.append(Candidate(message("fix.detach_numpy"), (edit,)))
        text = message("grad.numpy", tensor=name_of(analysis, fault))
        yield Finding(fault.at.span, text, (), tuple(candidates))


RULE = Rule(
    CODE,
    "numpy-on-grad",
    "error",
    "autograd",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

model = nn.Linear(4, 2)
scores = model(torch.randn(8, 4)).cpu().numpy()
#        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS409: requires grad, and numpy() refuses that
print(scores.mean())
""",
            fixed="""
import torch
from torch import nn

model = nn.Linear(4, 2)
scores = model(torch.randn(8, 4)).detach().cpu().numpy()
print(scores.mean())
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 2)
with torch.no_grad():
    scores = model(torch.randn(8, 4)).cpu().numpy()
print(scores.mean())
""",
        ),
    ),
)

"""plain-tensor-parameter: a trainable tensor that is no nn.Parameter.

What it finds
    `self.w = torch.randn(…, requires_grad=True)` on a module, and `self.w = nn.Parameter(…).to(device)`, which is a
    parameter no more where the device is another.
Why it hurts
    parameters() does not list it: no optimizer trains it, state_dict() does not save it, to() does not move it.
Example
    self.scale = torch.ones(8, requires_grad=True)
Use instead
    self.scale = nn.Parameter(torch.ones(8))
Fix safety
    Safe: it was made to be trained.
References
    torch.nn.Parameter
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.graph import GraphNode
from torchsleuth.interp.library.modules import tensors_in
from torchsleuth.interp.trace import AttributeSet
from torchsleuth.interp.values import Tensor
from torchsleuth.messages import message
from torchsleuth.rules.loops import statement_of
from torchsleuth.rules.modules import named
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS519"


def find(analysis: Analysis) -> Iterator[Finding]:
    trained = {id(t) for optimizer in analysis.trace.optimizers for t in tensors_in(optimizer.argument(0, "params"))}
    reported: set[object] = set()
    for item in analysis.trace.attributes:
        function = item.site.frame.function
        if function is None or function.name != "__init__" or item.site.span in reported:
            continue
        value = item.value
        if not isinstance(value, Tensor) or value.parameter or id(value) in trained:
            continue
        if value.spec.requires_grad is True and (value.slots.get("leaf") or _moved_parameter(value)):
            reported.add(item.site.span)
            key = "parameter.moved" if _moved_parameter(value) else "parameter.plain"
            text = message(key, name=f"`self.{item.name}`", owner=item.owner.cls.name)
            yield Finding(item.site.span, text, (), tuple(_wrapped(analysis, item)))


def _moved_parameter(value: Tensor) -> bool:
    node = value.slots["node"]
    return isinstance(node, GraphNode) and node.operator == "to" and any(leaf.parameter for leaf in node.leaves)


def _wrapped(analysis: Analysis, item: AttributeSet) -> Iterator[Candidate]:
    statement = statement_of(analysis, item.site)
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call):
        return
    source = analysis.source_of(item.site.span.path)
    wrapper, imports = named(analysis, item.site, "torch.nn.Parameter")
    if (
        isinstance(value.func, ast.Attribute)
        and value.func.attr in ("to", "cuda")
        and isinstance(value.func.value, ast.Call)
    ):
        inner = value.func.value
        if inner.args:
            moved = source.segment(inner.args[0]) + source.segment(value)[len(source.segment(inner)) :]
            text = f"{source.segment(inner.func)}({moved})"
            yield Candidate(message("fix.wrap", text=wrapper), (edits.replace(source, value, text),))
        return
    keyword = next((keyword for keyword in value.keywords if keyword.arg == "requires_grad"), None)
    if keyword is not None:
        changes = (
            *imports,
            edits.insert(source, source.start_of(value), f"{wrapper}("),
            edits.remove_keyword(source, value, keyword),
            edits.insert_after_node(source, value, ")"),
        )
        yield Candidate(message("fix.wrap", text=wrapper), changes)


RULE = Rule(
    CODE,
    "plain-tensor-parameter",
    "warning",
    "training loop",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gain = torch.ones(features, requires_grad=True)
#       ^^^^^^^^^ TS519: `self.gain` requires grad but is no parameter of Scale

    def forward(self, x):
        return x * self.gain

print(Scale(4)(torch.randn(2, 4)))
""",
            fixed="""
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return x * self.gain

print(Scale(4)(torch.randn(2, 4)))
""",
            good="""
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.register_buffer("gain", torch.ones(features))

    def forward(self, x):
        return x * self.gain

print(Scale(4)(torch.randn(2, 4)))
""",
        ),
    ),
)

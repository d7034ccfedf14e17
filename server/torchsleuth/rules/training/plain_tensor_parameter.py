"""plain-tensor-parameter: a trainable tensor that is no nn.Parameter.

What it finds
    `self.w = torch.randn(…, requires_grad=True)` on a module, and `self.w = nn.Parameter(…) * 0.02`, `.double()` or
    `.to(device)`: the result is computed from a parameter that the module does not hold.
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

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import parts_of
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import AttributeSet
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.evidence.modules import named
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, keyword_of, nodes_in
from torchsleuth.values import Tensor
from torchsleuth.values.graph import GraphNode

CODE = "TS519"


def find(analysis: Analysis) -> Iterator[Finding]:
    trained = {id(t) for optimizer in analysis.trace.optimizers for t in trained_parts(optimizer)}
    reported: set[object] = set()
    for item in analysis.trace.attributes:
        function = item.site.scene.function
        if function is None or function.name != "__init__" or item.site.span in reported:
            continue
        key = _fault(item)
        if key is not None and id(item.value) not in trained:
            reported.add(item.site.span)
            text = message(key, name=f"`self.{item.name}`", owner=item.owner.cls.name)
            yield Finding(item.site.span, text, (), _wrapped(analysis, item))


def _fault(item: AttributeSet) -> str | None:
    value = as_kind(item.value, Tensor)
    if value is None or value.parameter or value.spec.requires_grad is not True:
        return None
    if value.slots.get("leaf"):
        return "parameter.plain"
    node = as_kind(value.slots["node"], GraphNode)
    if node is None or node.inputs or node.module is not None or len(node.leaves) != 1:
        return None
    leaf = node.leaves[0]
    if not leaf.parameter or any(part is leaf for part in parts_of(item.owner)):
        return None
    if node.operator != "to":
        return "parameter.computed"
    same = leaf.spec.dtype == value.spec.dtype and leaf.spec.device == value.spec.device
    return None if same else "parameter.moved"


def _wrapped(analysis: Analysis, item: AttributeSet) -> Iterator[Candidate]:
    """The whole value made a parameter, and what made a part of it trainable dropped."""
    statement = statement_of(analysis, item.site)
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.expr):
        return
    source = item.site.source
    wrapper, imports = named(analysis, item.site, "torch.nn.Parameter")
    title = message("fix.wrap", text=wrapper)
    inner = [part for part in nodes_in(value, ast.Call) if _makes_parameter(part)]
    if len(inner) == 1 and len(inner[0].args) == 1 and not inner[0].keywords:
        text = source.segment(inner[0].args[0])
        if isinstance(inner[0].args[0], ast.BinOp):
            text = f"({text})"
        changes = [edits.replace(source, inner[0], text)]
    elif isinstance(value, ast.Call):
        dropped = edits.without_attribute(source, value, "requires_grad_")
        keyword = keyword_of(value, "requires_grad")
        changes = [edits.remove_keyword(source, value, keyword)] if keyword is not None else []
        if is_attribute(value.func, "requires_grad_") and dropped is not None:
            changes = [dropped]
    else:
        changes = []
    around = (edits.insert(source, source.start_of(value), f"{wrapper}("), edits.insert_after_node(source, value, ")"))
    yield Candidate(title, (*imports, around[0], *changes, around[1]))


def _makes_parameter(node: ast.Call) -> bool:
    return ast.unparse(node.func).rpartition(".")[2] == "Parameter"


RULE = Rule(FAULTS[CODE], find, of_absence=True)

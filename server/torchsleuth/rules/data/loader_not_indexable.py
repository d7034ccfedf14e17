"""loader-not-indexable: a DataLoader used like a list, or its iterator like that of Python 2.

What it finds
    loader[0], and iter(loader).next().
Why it hurts
    A loader has no items: TypeError "'DataLoader' object is not subscriptable". Its iterators have no next method:
    AttributeError.
Example
    images, labels = loader[0]
Use instead
    images, labels = next(iter(loader))
Fix safety
    Safe for the first batch. A later one cannot be had without those before it.
References
    torch.utils.data.DataLoader
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import LOADER
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import made_here
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, literal

CODE = "TS614"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        node = fault.at.node
        if fault.kind == "subscript" and isinstance(node, ast.Subscript):
            source = fault.at.source
            new = f"next(iter({source.segment(node.value)}))"
            change: tuple[Edit, ...] = (edits.replace(source, node, new),)
            first = literal(node.slice) == 0
            candidate = Candidate(message("fix.replace", old=source.segment(node), new=new), change, first)
            name = source.segment(node.value)
            yield Finding(
                fault.at.span, message("data.subscript", loader=name), made_here(analysis, fault.loader), (candidate,)
            )
    for call in analysis.calls.get(f"{LOADER}.next", ()):
        node = call.site.node
        if is_method_call(node):
            source = call.site.source
            new = f"next({source.segment(node.func.value)})"
            candidate = replacement(source, node, new)
            yield Finding(call.site.span, message("data.next"), (), (candidate,))


RULE = Rule(FAULTS[CODE], find)

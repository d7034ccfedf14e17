"""fraction-dropped: numbers between 0 and 1 are made whole, and nearly all of them become 0.

What it finds
    `.long()`, `.int()`, `.to(torch.int64)` and the like, `int()`, `floor()` and `trunc()`, directly of what `torch.rand()`, `rand_like()`,
    `sigmoid()` or `softmax()`, or the uniform generators of NumPy and Python, give; also under a name that is bound once. `.long()` of a mask of
    several classes that ToTensor has made a tensor of, and divided by 255.
Why it hurts
    What is not whole is cut off, not rounded: every number that is drawn becomes 0, and a probability does, however large. What is drawn
    that way is always the first one, and predictions are all of class 0. Nothing is raised.
Example
    t = torch.rand(batch).long() * steps
Use instead
    t = (torch.rand(batch) * steps).long()
Fix safety
    Unsafe: other numbers come out, which is what is wanted.
References
    torch.Tensor.long, torch.rand, torch.randint
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.pixels import classes_of_pixels
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    given_to,
    is_binary,
    is_function_call,
    is_method_call,
    loads,
    nodes_in,
)
from torchsleuth.tensors.spec import DType
from torchsleuth.values import SHARES, Tensor

CODE = "TS366"
_DRAWN = frozenset(
    {
        "torch.rand",
        "torch.rand_like",
        "numpy.random.rand",
        "numpy.random.random",
        "numpy.random.random_sample",
        "random.random",
    }
)
_TWO = 2
"""Classes whose numbers may be stored as 0 and 255, which ToTensor makes 0 and 1."""
_PROBABILITIES = ("sigmoid", "softmax")
_WHOLE = ("long", "int", "short", "floor", "trunc")
_CONVERTED = ("to", "type", "astype")
_TYPES = frozenset("torch.long torch.int torch.int64 torch.int32 torch.int16 int np.int64 np.int32 numpy.int64".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_masks(analysis)
    source = analysis.source
    drawn = {id(use.call) for use in analysis.names.uses if use.path in _DRAWN and use.call is not None}
    seen: set[int] = set()
    for scope in analysis.scopes:
        bound = _bound_once(scope)
        for node in nodes_in(scope, ast.Call):
            given = _made_whole(node)
            value = bound.get(given.id) if isinstance(given, ast.Name) else given
            if given is None or value is None or id(node) in seen:
                continue
            seen.add(id(node))
            if id(value) in drawn:
                text = message("fraction.drawn", call=source.segment(node)[:60])
                yield Finding(source.span(node), text, (), tuple(_scaled(analysis, node, given)))
            elif called(value) in _PROBABILITIES:
                text = message("fraction.probability", call=source.segment(node)[:60])
                yield Finding(source.span(node), text, (), tuple(_rounded(analysis, node, given)))


def _of_masks(analysis: Analysis) -> Iterator[Finding]:
    """``to_tensor(mask).long()``, of a mask of more than two classes, which ToTensor has divided by 255."""
    seen: set[Span] = set()
    for call in analysis.trace.calls:
        mask = as_kind(call.receiver, Tensor)
        asked = call.name in ("long", "int") or call.args[:1] in ((DType("int64"),), (DType("int32"),))
        if mask is None or SHARES not in mask.tags or not asked or call.site.span in seen:
            continue
        if call.name in ("long", "int", "to", "type") and classes_of_pixels(analysis) > _TWO:
            seen.add(call.site.span)
            source = call.site.source
            yield Finding(call.site.span, message("fraction.mask", call=source.on_one_line(call.site.node)[:60]))


def _made_whole(node: ast.Call) -> ast.expr | None:
    """What a call cuts to a whole number."""
    if is_method_call(node, *_WHOLE) and not given_to(node):
        return node.func.value
    if is_method_call(node, *_CONVERTED) and len(node.args) == 1 and ast.unparse(node.args[0]) in _TYPES:
        return node.func.value
    if is_function_call(node, "int") and len(node.args) == 1 and not node.keywords:
        return node.args[0]
    return None


def _bound_once(scope: ast.Module | ast.FunctionDef) -> dict[str, ast.expr]:
    """The values of the names that a scope binds once, and reads once."""
    names = list(nodes_in(scope, ast.Name))
    reads = [name.id for name in names if loads(name)]
    stores = [name.id for name in names if not loads(name)]
    pairs = [pair for node in nodes_in(scope, ast.Assign) for pair in assigned_pairs(node)]
    return {
        target.id: value
        for target, value in pairs
        if isinstance(target, ast.Name) and stores.count(target.id) == reads.count(target.id) == 1
    }


def _scaled(analysis: Analysis, node: ast.Call, given: ast.expr) -> Iterator[Candidate]:
    """``torch.rand(n).long() * steps`` → ``(torch.rand(n) * steps).long()``"""
    source = analysis.source
    around = analysis.trail(source.path, node)[-2]
    if is_binary(around, ast.Mult) and isinstance(around, ast.BinOp):
        other = around.right if around.left is node else around.left
        factor = source.segment(other) if not isinstance(other, ast.BinOp) else f"({source.segment(other)})"
        product = f"{source.segment(given)} * {factor}"
        kind = source.segment(node)[len(source.segment(given)) :] if is_method_call(node) else None
        yield replacement(source, around, f"int({product})" if kind is None else f"({product}){kind}", safe=False)


def _rounded(analysis: Analysis, node: ast.Call, given: ast.expr) -> Iterator[Candidate]:
    """``logits.sigmoid().long()`` → ``logits.sigmoid().round().long()``"""
    if is_method_call(node) and called(given) == "sigmoid":
        text = analysis.source.segment(given)
        yield replacement(analysis.source, given, f"{text}.round()", safe=False)


RULE = Rule(FAULTS[CODE], find)

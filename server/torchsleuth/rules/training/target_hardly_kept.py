"""target-hardly-kept: a moving average that keeps next to nothing of what it was.

What it finds
    `target.copy_(c * target + (1 - c) * trained)` in a loop over the parameters of two networks of one kind, with c below 0.05:
    the weights of the average are exchanged.
Why it hurts
    The target network, or the average of the weights, was to follow slowly; it is all but a copy after each step. Bootstrapped
    values chase themselves, an average averages nothing. Nothing is raised.
Example
    for p, t in zip(network.parameters(), target.parameters()):
        t.data.copy_(0.005 * t.data + 0.995 * p.data)
Use instead
    for p, t in zip(network.parameters(), target.parameters()):
        t.data.copy_(0.005 * p.data + 0.995 * t.data)
Fix safety
    Safe: the two change places.
References
    torch.Tensor.copy_, torch.optim.swa_utils.AveragedModel
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_trained
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.rules.training.parameter_rebound import loop_over
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_binary, is_method_call, is_name, plain_name
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Value, is_module
from torchsleuth.values.frames import Scene

CODE = "TS545"
_PARAMETERS = "torch.nn.Module.parameters"
_LITTLE = 0.05


@dataclass(frozen=True)
class _Average:
    """``place`` becomes ``kept * place + (1 - kept) * new``; the two nodes are those of the tensors in the products."""

    statement: ast.stmt
    own: ast.expr
    new: ast.expr
    weight: ast.expr
    rest: ast.expr


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    calls = [call for call in analysis.calls.get(_PARAMETERS, ()) if is_module(call.receiver)]
    for pair in pairwise(calls):
        loop, path = loop_over(analysis, pair[0]), pair[0].site.span.path
        if loop is None or pair[1].site.span.path != path or loop_over(analysis, pair[1]) is not loop:
            continue
        source = analysis.source_of(path)
        for average in filter(None, map(_average, loop.body)):
            kept, rest = (_number(node, pair[0].site.scene) for node in (average.weight, average.rest))
            if kept is None or rest is None or not 0 < kept < _LITTLE or abs(kept + rest - 1) > 1e-6:
                continue
            own, new = (
                next((one for one in pair if _is_of(one, node, loop)), None) for node in (average.own, average.new)
            )
            if own is None or new is None or source.span(average.statement) in seen:
                continue
            if is_trained(analysis, new.receiver) and not is_trained(analysis, own.receiver):
                seen.add(source.span(average.statement))
                yield _finding(source, average, kept, loop)


def _is_of(call: LibraryCall, tensor: ast.expr, loop: ast.For) -> bool:
    """Whether a variable of the loop runs over the parameters that a call gives."""
    targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else []
    given = loop.iter.args if isinstance(loop.iter, ast.Call) else []
    name = _bare(tensor)
    places = [index for index, one in enumerate(targets) if is_name(one, name)]
    node = call.site.node
    same = isinstance(node, ast.expr) and len(places) == 1 and len(targets) == len(given)
    return same and ast.dump(given[places[0]]) == ast.dump(node)


def _bare(tensor: ast.expr) -> str | None:
    """The variable in ``p``, ``p.data`` and ``p.detach()``."""
    while isinstance(tensor, ast.Attribute | ast.Call):
        tensor = tensor.func if isinstance(tensor, ast.Call) else tensor.value
    return plain_name(tensor)


def _average(statement: ast.stmt) -> _Average | None:
    place, value = _written(statement)
    if place is None or not is_binary(value, ast.Add):
        return None
    products = [_product(side) for side in (value.left, value.right)]
    for one, other in (products, products[::-1]):
        if one is None or other is None:
            return None
        own = _bare(one[1])
        if own is not None and own == _bare(place) and own != _bare(other[1]):
            return _Average(statement, one[1], other[1], one[0], other[0])
    return None


def _written(statement: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    """The tensor that is written over, and its new value: ``p.copy_(value)`` and ``p.data = value``."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        return statement.targets[0], statement.value
    call = statement.value if isinstance(statement, ast.Expr) else None
    if is_method_call(call, "copy_") and call.args:
        return call.func.value, call.args[0]
    return None, None


def _product(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The weight and the tensor of ``weight * tensor``, in either order: a tensor is a variable, or something of one."""
    if not is_binary(node, ast.Mult):
        return None
    left, right = node.left, node.right
    is_tensor = is_attribute(left, "data")
    return (right, left) if is_tensor or isinstance(right, ast.Constant | ast.BinOp) else (left, right)


def _number(node: ast.expr, scene: Scene) -> float | None:
    """A weight of the average: a number, a variable, an attribute of the object, and what is left of 1."""
    value: Value = None
    match node:
        case ast.Constant():
            value = node.value
        case ast.Name():
            value = scene.names.get(node.id, scene.globals.get(node.id))
        case ast.Attribute(value=ast.Name()):
            owner = scene.instance()
            value = owner.slots.get(node.attr) if owner is not None else None
        case ast.BinOp(op=ast.Sub()):
            one, other = _number(node.left, scene), _number(node.right, scene)
            return one - other if one is not None and other is not None else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _finding(source: SourceText, average: _Average, kept: float, loop: ast.For) -> Finding:
    names = {"own": f"`{_bare(average.own)}`", "new": f"`{_bare(average.new)}`", "share": f"{100 * kept:.3g} %"}
    swap = (
        edits.replace(source, average.own, source.segment(average.new)),
        edits.replace(source, average.new, source.segment(average.own)),
    )
    fix = Candidate(message("fix.exchange", left=names["own"], right=names["new"]), swap)
    places = (source.span(loop.iter).related(message("average.over")),)
    return Finding(source.span(average.statement), message("average.share", **names), places, (fix,))


RULE = Rule(FAULTS[CODE], find)

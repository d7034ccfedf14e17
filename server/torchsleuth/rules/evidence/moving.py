"""Moving averages of the parameters of one network in those of another, as they are written in loops over both."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from torchsleuth.interp.trace import LibraryCall
from torchsleuth.rules.evidence.loops import is_trained
from torchsleuth.rules.evidence.numbers_written import number_of
from torchsleuth.rules.rule import Analysis
from torchsleuth.rules.training.parameter_rebound import loop_over
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import (
    argument_of,
    is_binary,
    is_method_call,
    is_name,
    names_in,
    plain_name,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import is_module

_PARAMETERS = "torch.nn.Module.parameters"
_NAMED = "torch.nn.Module.named_parameters"
_STATES = (_PARAMETERS, _NAMED, "torch.nn.Module.state_dict")


@dataclass(frozen=True)
class Average:
    """``place`` becomes ``weight * own + rest * new``; the nodes are those of the tensors and of their factors. `added`: the
    call of ``own.mul_(weight).add_(new)``. `kept` and `share`: the two factors as numbers."""

    statement: ast.stmt
    own: ast.expr
    new: ast.expr
    weight: ast.expr
    rest: ast.expr
    added: ast.Call | None
    source: SourceText
    loop: ast.For
    kept: float
    share: float

    @property
    def names(self) -> dict[str, str]:
        return {"own": f"`{_bare(self.own)}`", "new": f"`{_bare(self.new)}`"}


@dataclass(frozen=True)
class Following:
    """A network whose parameters are moved towards those of another one that is trained: in the body of a loop over both.
    `share`: of the new ones in each step, None where it is not known."""

    statement: ast.stmt
    source: SourceText
    loop: ast.For
    own: ast.expr
    average: LibraryCall
    trained: LibraryCall
    share: float | None


def moving_averages(analysis: Analysis) -> Iterator[Average]:
    """Those that follow a network which an optimizer trains, each once."""
    seen: set[Span] = set()
    for pair, loop, source in _side_by_side(analysis):
        for statement in loop.body:
            parts = _parts(statement, loop)
            span = source.span(statement)
            if parts is None or span in seen:
                continue
            own, new, weight, rest, added = parts
            kept, share = (number_of(node, pair[0].site.scene) for node in (weight, rest))
            follows = _follows(analysis, pair, loop, own, new)
            if kept is None or share is None or follows is None:
                continue
            seen.add(span)
            yield Average(statement, own, new, weight, rest, added, source, loop, kept, share)


def followings(analysis: Analysis) -> Iterator[Following]:
    """The same with averages that are written as ``own.lerp_(new, share)``, and with weights that are not known."""
    seen: set[Span] = set()
    for pair, loop, source in _side_by_side(analysis):
        for statement in loop.body:
            moved = _moved(statement, loop)
            if moved is None or source.span(statement) in seen:
                continue
            own, new, rest = moved
            calls = _follows(analysis, pair, loop, own, new)
            if calls is not None:
                seen.add(source.span(statement))
                yield Following(statement, source, loop, own, *calls, number_of(rest, pair[0].site.scene))
    for one in _by_name(analysis):
        if one.source.span(one.statement) not in seen:
            seen.add(one.source.span(one.statement))
            yield one


def _by_name(analysis: Analysis) -> Iterator[Following]:
    """``for name, own in average.named_parameters(): own.lerp_(new[name], share)``, where another module is trained."""
    asked = [call for path in _STATES for call in analysis.calls.get(path, ()) if is_module(call.receiver)]
    trained = [call for call in asked if is_trained(analysis, call.receiver)]
    for call in analysis.calls.get(_NAMED, ()):
        loop = loop_over(analysis, call) if is_module(call.receiver) else None
        pair = loop.target.elts if loop is not None and isinstance(loop.target, ast.Tuple) else []
        near = [one for one in trained if one.site.scene.function is call.site.scene.function]
        if loop is None or len(pair) != 2 or not near or is_trained(analysis, call.receiver):
            continue
        for statement in loop.body:
            own, new, rest = _moved(statement, loop) or (None, None, None)
            if own is None or new is None or rest is None or not is_name(pair[1], _bare(own)):
                continue
            if isinstance(pair[0], ast.Name) and pair[0].id in names_in(new):
                share = number_of(rest, call.site.scene)
                yield Following(statement, analysis.source_of(call.site.span.path), loop, own, call, near[-1], share)


def _side_by_side(analysis: Analysis) -> Iterator[tuple[tuple[LibraryCall, LibraryCall], ast.For, SourceText]]:
    """The calls that give the parameters of two networks to one loop."""
    calls = [call for call in analysis.calls.get(_PARAMETERS, ()) if is_module(call.receiver)]
    for pair in pairwise(calls):
        loop, path = loop_over(analysis, pair[0]), pair[0].site.span.path
        if loop is not None and pair[1].site.span.path == path and loop_over(analysis, pair[1]) is loop:
            yield pair, loop, analysis.source_of(path)


def _follows(
    analysis: Analysis, pair: tuple[LibraryCall, LibraryCall], loop: ast.For, own: ast.expr, new: ast.expr
) -> tuple[LibraryCall, LibraryCall] | None:
    """The calls that give the average and the network that is trained."""
    owner, other = (next((one for one in pair if _is_of(one, node, loop)), None) for node in (own, new))
    if owner is None or other is None or is_trained(analysis, owner.receiver):
        return None
    return (owner, other) if is_trained(analysis, other.receiver) else None


def _moved(statement: ast.stmt, loop: ast.For) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The tensor that is kept, the new one, and the share of this."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if is_method_call(call, "lerp_") and len(call.args) == 2:
        return call.func.value, call.args[0], call.args[1]
    parts = _parts(statement, loop)
    return (parts[0], parts[1], parts[3]) if parts is not None else None


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


def _parts(statement: ast.stmt, loop: ast.For) -> tuple[ast.expr, ast.expr, ast.expr, ast.expr, ast.Call | None] | None:
    """The tensor that is kept and the new one, their factors, and the call that adds one to the other, if there is one."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    variables = names_in(loop.target)
    if is_method_call(call, "add_") and is_method_call(call.func.value, "mul_"):
        return _added(call, call.func.value, variables)
    place, value = _written(statement)
    value = value.body if isinstance(value, ast.IfExp) else value
    if place is None or not is_binary(value, ast.Add):
        return None
    products = [_product(side, variables) for side in (value.left, value.right)]
    for one, other in (products, products[::-1]):
        if one is None or other is None:
            return None
        own = _bare(one[1])
        if own is not None and own == _bare(place) and own != _bare(other[1]):
            return one[1], other[1], one[0], other[0], None
    return None


def _added(
    call: ast.Call, kept: ast.Call, variables: set[str]
) -> tuple[ast.expr, ast.expr, ast.expr, ast.expr, ast.Call | None] | None:
    """``own.mul_(weight).add_(new, alpha=rest)`` and ``own.mul_(weight).add_(rest * new)``"""
    if len(call.args) != 1 or len(kept.args) != 1 or not isinstance(kept.func, ast.Attribute):
        return None
    own, factor = kept.func.value, argument_of(call, None, "alpha")
    product = _product(call.args[0], variables)
    rest, new = product if product is not None and factor is None else (factor or ast.Constant(1), call.args[0])
    return (own, new, kept.args[0], rest, call) if _bare(own) != _bare(new) else None


def _written(statement: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    """The tensor that is written over, and its new value: ``p.copy_(value)`` and ``p.data = value``."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        return statement.targets[0], statement.value
    call = statement.value if isinstance(statement, ast.Expr) else None
    if is_method_call(call, "copy_") and call.args:
        return call.func.value, call.args[0]
    return None, None


def _product(node: ast.expr, variables: set[str]) -> tuple[ast.expr, ast.expr] | None:
    """The weight and the tensor of ``weight * tensor``, in either order: a tensor is a variable of the loop, or something of one."""
    if not is_binary(node, ast.Mult):
        return None
    left, right = (_bare(side) in variables for side in (node.left, node.right))
    first = left > right or (left == right and isinstance(node.right, ast.Constant | ast.BinOp))
    return (node.right, node.left) if first else (node.left, node.right)
